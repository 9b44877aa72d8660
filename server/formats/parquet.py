"""Files of Parquet, whose columns carry their labels as metadata."""

import io
import json
from importlib import import_module
from typing import Any

from analysis.study.report_columns import HOW_TO_USE
from server.formats.table import ReportsTable

#: What stands in the metadata of a file, under "deniable": which reports it has, as JSON.
KIND = "reports-1"


def write(table: ReportsTable) -> bytes:
    """Return a .parquet file; each field has `label`, and those of reports `values`, as JSON."""
    file = io.BytesIO()
    import_module("pyarrow.parquet").write_table(arrow_table(table, schema_of(table)), file)
    return file.getvalue()


def schema_of(table: ReportsTable) -> Any:
    """Return the Arrow schema of a table of reports, with labels and the survey as metadata."""
    pyarrow = import_module("pyarrow")
    kinds = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "string": pyarrow.string()}
    fields = []
    for column in table.columns:
        told = {"label": column.label, "noisy": "yes" if column.is_noisy else "no"}
        if column.values:
            told["values"] = json.dumps(column.values, ensure_ascii=False)
        if column.codes:
            told["codes"] = json.dumps(column.codes, ensure_ascii=False)
        fields.append(pyarrow.field(column.name, kinds[column.kind], False, told))
    about = {
        "deniable": KIND,
        "survey_id": table.survey.id,
        "version": table.version,
        "wave": table.wave,
        "open": table.is_open,
        "simulated": table.simulated,
        "survey": table.survey.to_json(),
    }
    return pyarrow.schema(
        fields,
        {
            "title": table.title,
            "how_to_use": HOW_TO_USE,
            "deniable": json.dumps(about, ensure_ascii=False),
        },
    )


def arrow_table(table: ReportsTable, schema: Any) -> Any:
    """Return the rows of a table of reports as an Arrow table of this schema."""
    pyarrow = import_module("pyarrow")
    arrays = [
        pyarrow.array(cells, field.type) for cells, field in zip(table.cells, schema, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)
