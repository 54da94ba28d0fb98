"""The experiments of [Cradle]: which requests are served when there is not room for all."""
