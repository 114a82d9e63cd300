"""Kernel packages: descriptions, specialization variants, ahead-of-time compilation, target.toml."""
