"""One line of help for each function, by its canonical name."""

from __future__ import annotations

_LINES = """
abs: the absolute value
acos: the arc cosine, in radians
add_months: a date some months later; the optional format is that of the result
aes_decrypt: decrypts with AES
aes_encrypt: encrypts with AES
approx_distinct: the approximate number of distinct values
array: an array of the arguments
array_contains: whether an array contains a value
array_distinct: an array without repeated elements
array_except: the elements of the first array that are not in the second
array_intersect: the elements that both arrays contain
array_join: the elements as one string, with a delimiter; the third argument stands for NULL
array_max: the greatest element
array_min: the least element
array_remove: an array without an element
array_slice: some elements of an array from a position on, which counts from 0
array_union: the elements of both arrays, without repetitions
ascii: the code of the first character
asin: the arc sine, in radians
assert_true: NULL, or an error if the condition is not true
atan: the arc tangent, in radians
atan2: the angle of the point (x, y), from the arguments y and x
avg: the mean of the values
base64: binary as a base64 string
bin: an integer in binary digits
bit_and: the bitwise AND of the values
bit_or: the bitwise OR of the values
bit_xor: the bitwise XOR of the values
bround: rounds half to even
cbrt: the cube root
ceil: the least integer that is not less
chr: the character of a code
coalesce: the first argument that is not NULL
collect_list: the values as an array
collect_set: the distinct values as an array
concat: the arguments as one string
concat_ws: strings, or arrays of strings, as one string with the delimiter that comes first
conv: converts a number from one base to another
corr: the correlation of two columns
cos: the cosine of an angle in radians
cosh: the hyperbolic cosine
cot: the cotangent of an angle in radians
count: the number of rows, or of rows in which no argument is NULL
covar_pop: the population covariance
covar_samp: the sample covariance
crc32: the CRC-32 checksum
cume_dist: the share of rows up to the peers of the current row
current_database: the current database
current_date: the date on which the statement started
current_timestamp: the time at which the statement started
current_user: the name of the current user
date_add: a date some days later
date_format: a date or timestamp as a string, by a format such as 'yyyy-MM-dd'
date_sub: a date some days earlier
datediff: the number of days from the second date to the first
dayname: the name of the day of the week
decode: binary as a string, in a character set such as 'UTF-8'
degrees: radians as degrees
dense_rank: the rank of the row, without gaps after peers
ds_hll_estimate: the estimated number of distinct values in an HLL sketch
ds_hll_estimate_bounds: that estimate, and its bounds at 2 standard deviations, or at 1 or 3
ds_hll_sketch: an HLL sketch of the values; the second argument is lgK, by default 12
ds_hll_union: the union of HLL sketches
ds_hll_union_f: the union of two HLL sketches
ds_quantile_doubles_cdf: the fractions of the values of a quantiles sketch below points, and 1
ds_quantile_doubles_k: the size of a quantiles sketch
ds_quantile_doubles_n: the number of values in a quantiles sketch
ds_quantile_doubles_pmf: the fractions of the values of a quantiles sketch between points
ds_quantile_doubles_quantile: the value of a quantiles sketch at a fraction
ds_quantile_doubles_quantiles: the values of a quantiles sketch at fractions, or at a number of equal steps
ds_quantile_doubles_sketch: a quantiles sketch of the values; the second argument is k, by default 128
ds_quantile_doubles_union: the union of quantiles sketches
ds_theta_estimate: the estimated number of distinct values in a theta sketch
ds_theta_exclude: a theta sketch of the values of the first sketch that are not in the second
ds_theta_intersect: the intersection of theta sketches
ds_theta_intersect_f: the intersection of two theta sketches
ds_theta_sketch: a theta sketch of the values; the second argument is its size, by default 4096
ds_theta_union: the union of theta sketches
ds_theta_union_f: the union of two theta sketches
e: the base of the natural logarithm
elt: the argument at a position, which counts from 1
encode: a string as binary, in a character set such as 'UTF-8'
exp: e to the power of a number
explode: a row for each element of an array, or each entry of a map
explode_outer: explode, with a row of NULL for an empty array or map
extract_day: the day of the month
extract_dayofweek: the day of the week, from 1 for Sunday
extract_dayofyear: the day of the year
extract_hour: the hour
extract_minute: the minute
extract_month: the month
extract_quarter: the quarter
extract_second: the second
extract_week: the week of the year (ISO 8601)
extract_year: the year
factorial: the factorial of an integer from 0 to 20
field: the position of the first argument among the others, 0 if it is not one of them
find_in_set: the position of a string in a list that is separated by commas
first_value: the first value of the window frame; with true, the first that is not NULL
floor: the greatest integer that is not greater
floor_day: a timestamp truncated to its day
floor_hour: a timestamp truncated to its hour
floor_minute: a timestamp truncated to its minute
floor_month: a timestamp truncated to its month
floor_quarter: a timestamp truncated to its quarter
floor_second: a timestamp truncated to its second
floor_week: a timestamp truncated to its week
floor_year: a timestamp truncated to its year
format_number: a number with separators of thousands, and a number of decimal places or a format
from_unixtime: seconds since 1970-01-01 UTC as a string, by a format
from_utc_timestamp: a UTC timestamp in another time zone
get_json_object: the part of a JSON string at a path such as '$.a[0].b'
greatest: the greatest argument
grouping: the bits of the columns that are aggregated in this grouping set
hash: a hash code of the arguments
hex: a number, string or binary in hexadecimal digits
histogram_numeric: a histogram with a number of bins
if: the second argument where the first is true, else the third
index: the element of an array at a position from 0, or the value of a map for a key
initcap: each word with an upper-case first letter
inline: a row for each struct of an array
inline_outer: inline, with a row of NULLs for an empty array
instr: the position of the second string in the first, from 1; 0 if there is none
is_false: whether a boolean is false
is_not_false: whether a boolean is true or NULL
is_not_null: whether a value is not NULL
is_not_true: whether a boolean is false or NULL
is_null: whether a value is NULL
is_true: whether a boolean is true
json_tuple: the values of keys of a JSON object, as columns
lag: the value of an earlier row; by default of the previous one
last_day: the last day of the month
last_value: the last value of the window frame; with true, the last that is not NULL
lead: the value of a later row; by default of the next one
least: the least argument
length: the number of characters, or of bytes of a binary
levenshtein: the number of edits between two strings
ln: the natural logarithm
locate: the position of the first string in the second, from 1; 0 if there is none
log: the logarithm to a base, or the natural one
log10: the logarithm to base 10
log2: the logarithm to base 2
lower: in lower case
lpad: a string padded on the left to a length
ltrim: a string without leading blanks, or other characters
map: a map of keys and values, which alternate
map_keys: the keys of a map as an array
map_values: the values of a map as an array
mask: a value with its letters and digits masked
mask_first_n: a value with its first characters masked
mask_hash: the hash of a string
mask_last_n: a value with its last characters masked
mask_show_first_n: a value masked except for its first characters
mask_show_last_n: a value masked except for its last characters
max: the greatest value
md5: the MD5 digest in hexadecimal digits
min: the least value
mod: the remainder of a division, with the sign of the dividend
monthname: the name of the month
months_between: the number of months from the second time to the first
murmur_hash: a Murmur3 hash code of the arguments
named_struct: a struct of names and values, which alternate
negative: the negated number
next_day: the first later date of a day of the week such as 'MON'
ntile: the number of the bucket of the row, of so many buckets
nullif: NULL if both arguments are equal, else the first
nvl: the first argument that is not NULL
octet_length: the number of bytes
parse_url: a part of a URL, such as 'HOST' or 'QUERY'
parse_url_tuple: several parts of a URL, as columns
percent_rank: the rank of the row as a share from 0 to 1
percentile: the exact percentile of integers
percentile_approx: an approximate percentile
percentile_cont: the percentile, interpolated between two values
percentile_disc: the percentile, one of the values
pi: the ratio of a circle's circumference to its diameter
pmod: the remainder of a division, never negative for a positive divisor
posexplode: a row for each element of an array, with its position from 0
posexplode_outer: posexplode, with a row of NULLs for an empty array
positive: the number itself
power: a number to the power of another
printf: the arguments formatted as in Java's String.format
quote: a string in single quotes, with escapes
radians: degrees as radians
rand: a random number from 0 to 1
rank: the rank of the row, with gaps after peers
regexp_extract: a group of the first match of a regular expression; by default group 1
regexp_replace: a string with the matches of a regular expression replaced
regr_avgx: the mean of the second argument where neither is NULL
regr_avgy: the mean of the first argument where neither is NULL
regr_count: the number of rows where neither argument is NULL
regr_intercept: the intercept of the regression line
regr_r2: the coefficient of determination of the regression
regr_slope: the slope of the regression line
regr_sxx: the sum of squares of the second argument
regr_sxy: the sum of products of both arguments
regr_syy: the sum of squares of the first argument
repeat: a string repeated a number of times
replace: a string with all occurrences of another replaced
reverse: a string in reverse order
rlike: whether a regular expression matches a part of a string
round: rounds half up, to a number of decimal places
row_number: the number of the row in its partition, from 1
rpad: a string padded on the right to a length
rtrim: a string without trailing blanks, or other characters
sentences: a text as an array of sentences, each an array of words
sha1: the SHA-1 digest in hexadecimal digits
sha2: a SHA-2 digest of 224, 256, 384 or 512 bits in hexadecimal digits
shiftleft: the bits shifted to the left
shiftright: the bits shifted to the right, with the sign
shiftrightunsigned: the bits shifted to the right, without the sign
sign: 1, 0 or -1
sin: the sine of an angle in radians
sinh: the hyperbolic sine
size: the number of elements of an array or entries of a map; -1 for NULL
sort_array: the elements in ascending order
sort_array_by: an array of structs, ordered by fields
soundex: the Soundex code of a word
space: a number of blanks
split: the parts of a string between the matches of a regular expression
sqrt: the square root
stack: some values as a number of rows
stddev_pop: the population standard deviation
stddev_samp: the sample standard deviation
str_to_map: a string such as 'a:1,b:2' as a map; the delimiters are optional
struct: a struct of the arguments, with fields col1, col2, …
substring: a part of a string or binary from a position on, which counts from 1
substring_index: the part of a string before an occurrence of a delimiter, counted from the end if negative
sum: the sum of the values
tan: the tangent of an angle in radians
tanh: the hyperbolic tangent
to_date: the date of a timestamp or string
to_epoch_milli: milliseconds since 1970-01-01 UTC
to_utc_timestamp: a timestamp of a time zone in UTC
translate: a string with characters replaced by others, one by one
trim: a string without leading and trailing blanks, or other characters
trunc: a date truncated to a unit such as 'MM', or a number to decimal places
typeof: the type of a value
unbase64: a base64 string as binary
unhex: hexadecimal digits as binary
unix_timestamp: seconds since 1970-01-01 UTC, of a time or a string with a format
upper: in upper case
uuid: a random UUID
var_pop: the population variance
var_samp: the sample variance
version: the version of Hive with whose functions these agree
width_bucket: the number of the bucket of a value, of some buckets of equal width
xpath: the matches of an XPath expression as an array
xpath_boolean: whether an XPath expression is true or matches
xpath_double: the number that an XPath expression evaluates to
xpath_float: the number that an XPath expression evaluates to
xpath_int: the integer that an XPath expression evaluates to
xpath_long: the integer that an XPath expression evaluates to
xpath_number: the number that an XPath expression evaluates to
xpath_short: the integer that an XPath expression evaluates to
xpath_string: the text of the first match of an XPath expression
"""
HELP = {name: text for name, _, text in (line.partition(": ") for line in _LINES.strip().splitlines())}
"""The line of each function of FUNCTIONS, and of the conditions that ALIASES name."""
