"""Synthetic topologies and traffic of any size, the same for the same spec and seed."""

from clwl_spark.studies.synthetic.spec import GenerateSpec
from clwl_spark.studies.synthetic.topology import topology
from clwl_spark.studies.synthetic.traffic import messages

__all__ = ["GenerateSpec", "messages", "topology"]
