"""The experiments of 000 (Lv et al., FreeContainer), section VI."""
