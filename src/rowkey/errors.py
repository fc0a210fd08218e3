"""The errors of the Table service, one class for each code.

    ServiceError
     |- conditions   found while an operation runs: the entity or table is there, is not, has changed
     |- refusals     the request itself is not acceptable: values, names, sizes, formats, addresses
     |- credentials  authentication and authorisation
     '- trouble      the server could not do it: busy, too slow, broken

Raise the exact class at the place that knows; nobody translates on the way up, and only `payload/error_body.py`
turns one into bytes. Codes and texts: the reference's error tables, and the texts that the real service was
recorded to send where they differ ("specifed" is the service's own spelling).
"""

from enum import Enum
from typing import ClassVar


class Layer(Enum):
    """Which part of the service answers: the real one has layers that write different headers and bodies."""

    ENGINE = "engine"
    """The table engine: Cache-Control and nosniff, the body in the negotiated format."""
    LIBRARY = "library"
    """What the OData library refuses before a table is touched: as ENGINE, without Cache-Control."""
    FRONT_END = "front end"
    """Authentication, bad addresses, XML operations: x-ms-error-code instead of Cache-Control and nosniff."""
    BARE_FRONT_END = "bare front end"
    """The front end's first checks, made before the version counts: as FRONT_END, without x-ms-version."""
    HEADER = "header"
    """A header that cannot be read: a form of its own, without x-ms-version and x-ms-error-code."""

    __hash__ = object.__hash__  # members are singletons; Enum's own is a call in Python for each look-up


class ServiceError(Exception):
    """An answer other than success.

    `index` is the position of the operation that failed in an entity group transaction, where that is known.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "InternalError"
    message: ClassVar[str] = "The server encountered an internal error. Please retry the request."
    default_layer: ClassVar[Layer] = Layer.ENGINE
    is_condition: ClassVar[bool] = False
    """Found while executing: alone in a change set it is reported without the index (recorded, 14 of 14)."""
    headers: tuple[tuple[str, str], ...] = ()
    """What the answer says besides, as the challenge of a 401."""

    def __init__(self, text: str | None = None, *, layer: Layer | None = None, index: int | None = None) -> None:
        self.text = self.message if text is None else text
        self.layer = layer or self.default_layer
        self.index = index
        super().__init__(self.text)


# ---------------------------------------------------------------- conditions


class ConditionError(ServiceError):
    """The state of the table or entity does not allow the operation."""

    is_condition = True


class TableAlreadyExists(ConditionError):
    status, code, message = 409, "TableAlreadyExists", "The table specified already exists."


class TableBeingDeleted(ConditionError):
    status, code, message = 409, "TableBeingDeleted", "The specified table is being deleted. Try operation later."


class EntityAlreadyExists(ConditionError):
    status, code, message = 409, "EntityAlreadyExists", "The specified entity already exists."


class ResourceNotFound(ConditionError):
    status, code, message = 404, "ResourceNotFound", "The specified resource does not exist."


class UpdateConditionNotSatisfied(ConditionError):
    status, code = 412, "UpdateConditionNotSatisfied"
    message = "The update condition specified in the request was not satisfied."


class ConditionNotMet(ConditionError):
    status, code = 412, "ConditionNotMet"
    message = "The condition specified using HTTP conditional header(s) is not met."
    default_layer = Layer.LIBRARY


class TableNotFound(ServiceError):
    status, code, message = 404, "TableNotFound", "The table specified does not exist."
    default_layer = Layer.LIBRARY


# ---------------------------------------------------------------- refusals


class InvalidInput(ServiceError):
    status, code, message = 400, "InvalidInput", "One of the request inputs is not valid."


class BodyNotReadable(InvalidInput):
    """A body or a value in it does not parse."""

    message = "An error occurred while processing this request."


class InvalidQuery(InvalidInput):
    """`$filter`, `$select` and the like; refused before a table is touched."""

    default_layer = Layer.LIBRARY


class InvalidCondition(InvalidInput):
    """A conditional header that the operation does not take."""

    default_layer = Layer.LIBRARY


class InvalidETag(InvalidCondition):
    def __init__(self, etag: str) -> None:
        super().__init__(
            f"The etag value '{etag}' specified in one of the request headers is not valid. "
            "Please make sure only one etag value is specified and is valid."
        )


class InvalidPath(InvalidInput):
    """What looks like keys and is none; OData's own reader of paths refuses it."""

    default_layer = Layer.LIBRARY
    message = "Bad Request - Error in query syntax."


class OutOfRangeInput(ServiceError):
    status, code, message = 400, "OutOfRangeInput", "One of the request inputs is out of range."


class InvalidResourceName(ServiceError):
    status, code = 400, "InvalidResourceName"
    message = "The specifed resource name contains invalid characters."


class ResourceNameOutOfRange(OutOfRangeInput):
    message = "The specified resource name length is not within the permissible limits."


class PropertiesNeedValue(ServiceError):
    status, code = 400, "PropertiesNeedValue"
    message = "The values are not specified for all properties in the entity."


class TooManyProperties(ServiceError):
    status, code = 400, "TooManyProperties"
    message = (
        "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. "
        "Each entity also has 3 system properties."
    )


class PropertyNameTooLong(ServiceError):
    status, code = 400, "PropertyNameTooLong"
    message = "The property name exceeds the maximum allowed length (255)."


class PropertyNameInvalid(ServiceError):
    status, code, message = 400, "PropertyNameInvalid", "The property name is invalid."


class PropertyValueTooLarge(ServiceError):
    status, code = 400, "PropertyValueTooLarge"
    message = (
        "The property value exceeds the maximum allowed size (64KB). If the property value is a string, "
        "it is UTF-16 encoded and the maximum number of characters should be 32K or less."
    )


class DuplicatePropertiesSpecified(ServiceError):
    status, code, message = 400, "DuplicatePropertiesSpecified", "A property is specified more than one time."


class PrimaryKeyPropertyIsInvalidType(ServiceError):
    status, code, message = 400, "PrimaryKeyPropertyIsInvalidType", "One of the request inputs is not valid."


class KeyValueTooLarge(ServiceError):
    status, code, message = 400, "KeyValueTooLarge", "The key value exceeds the maximum allowed size."


class EntityTooLarge(ServiceError):
    status, code = 400, "EntityTooLarge"
    message = "The entity is larger than the maximum allowed size (1MB)."


class InvalidDuplicateRow(ServiceError):
    status, code = 400, "InvalidDuplicateRow"
    message = (
        "The batch request contains multiple changes with same row key. "
        "An entity can appear only once in a batch request."
    )


class CommandsInBatchActOnDifferentPartitions(ServiceError):
    status, code = 400, "CommandsInBatchActOnDifferentPartitions"
    message = "All commands in a batch must operate on same entity group."


class InvalidHeaderValue(ServiceError):
    status, code = 400, "InvalidHeaderValue"
    message = "The value for one of the HTTP headers is not in the correct format."
    default_layer = Layer.HEADER


class MissingRequiredHeader(ServiceError):
    status, code = 400, "MissingRequiredHeader"
    message = "An HTTP header that's mandatory for this request is not specified."


class InvalidQueryParameterValue(ServiceError):
    status, code = 400, "InvalidQueryParameterValue"
    message = "Value for one of the query parameters specified in the request URI is invalid."
    default_layer = Layer.FRONT_END


class InvalidUri(ServiceError):
    status, code, message = 400, "InvalidUri", "The requested URI does not represent any resource on the server."
    default_layer = Layer.BARE_FRONT_END


class RequestUrlFailedToParse(ServiceError):
    status, code, message = 400, "RequestUrlFailedToParse", "The url in the request could not be parsed."
    default_layer = Layer.BARE_FRONT_END


class HostInformationNotPresent(ServiceError):
    status, code = 400, "HostInformationNotPresent"
    message = (
        "The required host information is not present in the request. "
        "You must send a non-empty Host header or include the absolute URI in the request line."
    )
    default_layer = Layer.BARE_FRONT_END


class InvalidHttpVerb(ServiceError):
    status, code, message = 400, "InvalidHttpVerb", "The HTTP verb specified was not recognized by the server."
    default_layer = Layer.FRONT_END


class MethodNotAllowed(ServiceError):
    status, code = 405, "MethodNotAllowed"
    message = "The requested method is not allowed on the specified resource."
    default_layer = Layer.LIBRARY


class UnsupportedHttpVerb(ServiceError):
    status, code, message = 405, "UnsupportedHttpVerb", "The resource doesn't support the specified HTTP verb."
    default_layer = Layer.FRONT_END


class XMethodNotUsingPost(ServiceError):
    status, code = 400, "XMethodNotUsingPost"
    message = "The request uses X-HTTP-Method with an HTTP verb other than POST."


class XMethodIncorrectValue(ServiceError):
    status, code, message = 400, "XMethodIncorrectValue", "The specified X-HTTP-Method is invalid."


class XMethodIncorrectCount(ServiceError):
    status, code, message = 400, "XMethodIncorrectCount", "More than one X-HTTP-Method is specified."


class NotImplementedOnResource(ServiceError):
    status, code = 501, "NotImplemented"
    message = "The requested operation is not implemented on the specified resource."
    default_layer = Layer.LIBRARY


class MediaTypeNotSupported(ServiceError):
    status, code, message = 415, "MediaTypeNotSupported", "None of the provided media types are supported"


class AtomFormatNotSupported(ServiceError):
    status, code, message = 415, "AtomFormatNotSupported", "Atom format is not supported."


class JsonFormatNotSupported(ServiceError):
    status, code, message = 415, "JsonFormatNotSupported", "JSON format is not supported."


class JsonVerboseFormatNotSupported(ServiceError):
    status, code, message = 415, "JsonVerboseFormatNotSupported", "JSON verbose format is not supported."


class RequestBodyTooLarge(ServiceError):
    status, code = 413, "RequestBodyTooLarge"
    message = "The request body is too large and exceeds the maximum permissible limit."


class InvalidXmlDocument(ServiceError):
    status, code, message = 400, "InvalidXmlDocument", "XML specified is not syntactically valid."
    default_layer = Layer.FRONT_END


class InvalidMd5(ServiceError):
    status, code = 400, "InvalidMd5"
    message = "The MD5 value specified in the request is invalid. MD5 value must be 128 bits and base64-encoded."


class Md5Mismatch(ServiceError):
    status, code = 400, "Md5Mismatch"
    message = "The MD5 value specified in the request did not match the MD5 value calculated by the server."


# ---------------------------------------------------------------- credentials


class AuthenticationFailed(ServiceError):
    status, code = 403, "AuthenticationFailed"
    message = (
        "Server failed to authenticate the request. "
        "Make sure the value of Authorization header is formed correctly including the signature."
    )
    default_layer = Layer.BARE_FRONT_END


class InvalidAuthenticationInfo(ServiceError):
    status, code = 400, "InvalidAuthenticationInfo"
    message = "Authentication information is not given in the correct format. Check the value of Authorization header."
    default_layer = Layer.BARE_FRONT_END


class NoAuthenticationInformation(ServiceError):
    status, code = 401, "NoAuthenticationInformation"
    message = (
        "Server failed to authenticate the request. Please refer to the information in the www-authenticate header."
    )
    default_layer = Layer.BARE_FRONT_END


class BearerTokenRefused(InvalidAuthenticationInfo):
    """A token that is not accepted."""

    status, message = 401, NoAuthenticationInformation.message


class AuthorizationFailure(ServiceError):
    status, code, message = 403, "AuthorizationFailure", "This request is not authorized to perform this operation."


class AuthorizationPermissionMismatch(ServiceError):
    status, code = 403, "AuthorizationPermissionMismatch"
    message = "This request is not authorized to perform this operation using this permission."


class AuthorizationServiceMismatch(ServiceError):
    status, code = 403, "AuthorizationServiceMismatch"
    message = "This request is not authorized to perform this operation using this service."


class AuthorizationResourceTypeMismatch(ServiceError):
    status, code = 403, "AuthorizationResourceTypeMismatch"
    message = "This request is not authorized to perform this operation using this resource type."


class AuthorizationProtocolMismatch(ServiceError):
    status, code = 403, "AuthorizationProtocolMismatch"
    message = "This request is not authorized to perform this operation using this protocol."


class AuthorizationSourceIPMismatch(ServiceError):
    status, code = 403, "AuthorizationSourceIPMismatch"
    message = "This request is not authorized to perform this operation using this source IP {SourceIP}."

    def __init__(self, address: str) -> None:
        super().__init__(self.message.replace("{SourceIP}", address))


class CorsPreflightFailure(ServiceError):
    status, code = 403, "CorsPreflightFailure"
    message = "CORS not enabled or no matching rule found for this request."
    default_layer = Layer.FRONT_END


class InsufficientAccountPermissions(ServiceError):
    status, code, message = 403, "InsufficientAccountPermissions", "Write operations are not allowed."
    default_layer = Layer.FRONT_END


# ---------------------------------------------------------------- trouble


class InternalError(ServiceError):
    pass


class OperationTimedOut(ServiceError):
    status, code = 500, "OperationTimedOut"
    message = "The operation could not be completed within the permitted time."


class ServerBusy(ServiceError):
    status, code = 503, "ServerBusy"
    message = "The server is currently unable to receive requests. Please retry your request."
