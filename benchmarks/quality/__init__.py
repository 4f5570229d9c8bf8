"""Quality: how well bugs are found, fixed and counted, by duti and by what people use instead."""
