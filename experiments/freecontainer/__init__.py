"""The experiments of [FreeContainer] (Lv et al.) §VI."""
