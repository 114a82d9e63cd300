"""Kernel packages: descriptions, variants for specialization, compilation, target.toml."""
