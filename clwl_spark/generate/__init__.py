"""Synthetic topologies and traffic of any size, the same for the same spec and seed."""

from clwl_spark.generate.spec import GenerateSpec
from clwl_spark.generate.topology import topology
from clwl_spark.generate.traffic import messages

__all__ = ["GenerateSpec", "messages", "topology"]
