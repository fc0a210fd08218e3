"""Why bytes did not become a request, where the Table service has no code of its own for it."""

from typing import ClassVar

from rowkey.errors import InvalidInput, Layer, ServiceError


class MalformedRequest(InvalidInput):
    """Not HTTP/1.0 or HTTP/1.1, or HTTP that two readers could understand differently."""

    default_layer = Layer.BARE_FRONT_END


class HeadTooLarge(ServiceError):
    """More or longer headers than are read.

    431 because the service has no documented code for it and every client understands the status (RFC 6585, 5). An
    overlong target is refused as the service documents it, with 400 RequestUrlFailedToParse.
    """

    status, code = 431, "RequestHeadersTooLarge"
    message = "The headers of the request exceed the maximum permissible size or number."
    default_layer: ClassVar[Layer] = Layer.BARE_FRONT_END


class RequestTimedOut(ServiceError):
    """The client took too long to send the request (RFC 9110, 15.5.9)."""

    status, code = 408, "RequestTimedOut"
    message = "The request was not received completely within the permitted time."
    default_layer: ClassVar[Layer] = Layer.BARE_FRONT_END


class ExpectationFailed(ServiceError):
    """An `Expect` other than 100-continue (RFC 9110, 10.1.1)."""

    status, code = 417, "ExpectationFailed"
    message = "The only expectation that can be met is 100-continue."
    default_layer: ClassVar[Layer] = Layer.BARE_FRONT_END
