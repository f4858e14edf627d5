"""Providers: who answers when a model is asked."""
