"""Types of columns with sketches. Pure, without imports."""

_SKETCHES = ("COMPLEX<hyperUnique>", "COMPLEX<thetaSketch>", "COMPLEX<HLLSketch>", "COMPLEX<quantilesDoublesSketch>")


def is_sketch(type_: str) -> bool:
    """Whether a scan query returns values of this Druid type as their stored bytes in base64. HLLSketchBuild and
    HLLSketchMerge are stored alike."""
    return type_.replace("SketchBuild>", "Sketch>").replace("SketchMerge>", "Sketch>") in _SKETCHES
