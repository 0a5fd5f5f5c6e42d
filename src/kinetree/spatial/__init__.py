"""3-D and 6-D algebra on arrays of any scalar: plain floats, batches of floats, or traced expressions."""
