"""Rowkey: a durable server for the Azure Table Storage REST API."""

__version__ = "0.1.0"
