"""Embedding models that run on this machine: the packaged one and an ONNX folder of your own.

Nothing here opens a connection.
"""
