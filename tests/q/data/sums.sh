#!/bin/sh
awk 'NR == 1 || $1 != k {if (NR > 1) print k "\t" f "\t" s; s = 0; f = $2} {k = $1; s += $2} END {if (NR) print k "\t" f "\t" s}'
