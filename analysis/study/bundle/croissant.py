"""The description of a bundle for programs that load data sets for machine learning.

The form is Croissant (MLCommons, version 1.0 of the specification). It is made from the data
package, so both say the same of each file and column.
"""

from collections.abc import Mapping, Sequence
from typing import Any

#: The context that the specification prescribes.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key"),
            *("md5", "parentField", "path", "recordSet", "references", "regex", "repeated"),
            *("replace", "samplingRate", "separator", "source", "subField", "transform"),
        )
    },
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
_TYPES = {"integer": "sc:Integer", "number": "sc:Float", "string": "sc:Text", "object": "sc:Text"}


def croissant(package: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Croissant description of what a data package describes."""
    creators = [
        {"@type": "sc:Person", "name": each["title"]} for each in package.get("contributors", [])
    ]
    licenses = [each["name"] for each in package.get("licenses", [])]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": package["name"],
        "description": package["description"],
        **({"license": licenses[0]} if licenses else {}),
        **({"creator": creators} if creators else {}),
        "distribution": [_file(resource) for resource in package["resources"]],
        "recordSet": [
            _record_set(resource, resource["schema"]["fields"])
            for resource in package["resources"]
            if "schema" in resource
        ],
    }


def _file(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": resource["path"],
        "name": resource["path"],
        "description": resource["description"],
        "contentUrl": resource["path"],
        "contentSize": f"{resource['bytes']} B",
        "encodingFormat": resource["mediatype"],
        "sha256": resource["hash"].removeprefix("sha256:"),
    }


def _record_set(resource: Mapping[str, Any], fields: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": resource["name"],
        "name": resource["name"],
        "description": resource["description"],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{resource['name']}/{field['name']}",
                "name": field["name"],
                "description": field["description"],
                "dataType": _TYPES[field["type"]],
                "source": {
                    "fileObject": {"@id": resource["path"]},
                    "extract": {"column": field["name"]},
                },
            }
            for field in fields
        ],
    }
