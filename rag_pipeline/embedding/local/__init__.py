"""Embedding models that run on this machine: the packaged one, or your own ONNX folder.

Nothing here opens a connection.
"""
