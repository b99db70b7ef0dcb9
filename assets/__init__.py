"""Dagster assets, jobs, schedule and sensor: thin, their logic lies in `rag_pipeline`."""

import warnings

import dagster as dg

# Two features that Dagster marks as beta are used knowingly (docs/decisions.md): partitioned asset
# checks and dagster-pandera. Their notices would stand above every command's output.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
