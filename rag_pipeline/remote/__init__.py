"""Calling services over a network: what their faults mean, their pace, retries with a deadline."""

from rag_pipeline.remote.limiter import Bucket, Limiter, Stopped, Window
from rag_pipeline.remote.retrying import GaveUpFault, Patience, send_with_retries
from rag_pipeline.remote.service_faults import (
    GrpcFault,
    HttpFault,
    RefusedFault,
    ReplyFault,
    Service,
    ServiceFault,
    TransientFault,
    grpc_code,
    retry_after,
)

__all__ = [
    "Bucket",
    "GaveUpFault",
    "GrpcFault",
    "HttpFault",
    "Limiter",
    "Patience",
    "RefusedFault",
    "ReplyFault",
    "Service",
    "ServiceFault",
    "Stopped",
    "TransientFault",
    "Window",
    "grpc_code",
    "retry_after",
    "send_with_retries",
]
