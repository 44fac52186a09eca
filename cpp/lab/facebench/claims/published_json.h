#pragma once

#include "facebench/claims/published.h"
#include "facebench/io/json.h"

namespace facebench {

// {"table", "place", "about", "row", "column", "title", "printed", "value", "half_unit", "unit",
// "conditions", "measures", "errata"}.
Json published_value_json(const PublishedValue& value);
// Everything: {"id", "version", "title", "citation", "notes", "sha256", "tables": [{"id", "place",
// "title", "notes", "columns", "rows": [{"name", "conditions", "printed", "values"}], "errata"}]}.
Json publication_json(const Publication& publication);

}  // namespace facebench
