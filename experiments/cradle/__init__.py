"""The experiments of [Cradle]: which requests are served when not all of them fit."""
