"""Every finding hookport can report, by the series of their codes."""

from hookport.findings.checks import *  # noqa: F403
from hookport.findings.discovery import *  # noqa: F403
from hookport.findings.doctor import *  # noqa: F403
from hookport.findings.events import *  # noqa: F403
from hookport.findings.handlers import *  # noqa: F403
from hookport.findings.install import *  # noqa: F403
from hookport.findings.kinds import *  # noqa: F403
from hookport.findings.matchers import *  # noqa: F403
from hookport.findings.reading import *  # noqa: F403
from hookport.findings.tests import *  # noqa: F403
