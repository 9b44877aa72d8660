"""Files of Parquet, whose columns carry their labels as metadata."""

import io
import json
from importlib import import_module

from analysis.study.report_columns import HOW_TO_USE
from server.formats.table import ReportsTable


def write(table: ReportsTable) -> bytes:
    """Return a .parquet file; each field has `label`, and those of reports `values`, as JSON."""
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    kinds = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "string": pyarrow.string()}
    fields = []
    for column in table.columns:
        about = {"label": column.label, "noisy": "yes" if column.is_noisy else "no"}
        if column.values:
            about["values"] = json.dumps(column.values, ensure_ascii=False)
        fields.append(pyarrow.field(column.name, kinds[column.kind], False, about))
    about = {"title": table.title, "how_to_use": HOW_TO_USE}
    schema = pyarrow.schema(fields, about)
    arrays = [
        pyarrow.array(cells, field.type) for cells, field in zip(table.cells, fields, strict=True)
    ]
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), file)
    return file.getvalue()
