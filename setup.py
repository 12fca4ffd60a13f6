"""What pyproject.toml cannot say: app.py, pages and samples belong to the package.

In a checkout they stand at the top; in a wheel they are the folder ``fairdash/app``.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["fairdash*"]),
        "fairdash.app",
        "fairdash.app.pages",
        "fairdash.app.sample_data",
    ],
    package_dir={"fairdash.app": "."},
    package_data={
        "fairdash": [
            "py.typed",
            *(
                f"**/*.{kind}"
                for kind in ("css", "html", "js", "mako", "svg", "toml", "txt", "xz")
            ),
        ],
        "fairdash.app": [".streamlit/config.toml"],
        "fairdash.app.sample_data": ["*.csv", "*.csv.gz", "*.md", "*.zip"],
    },
)
