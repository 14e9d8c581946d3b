"""What a secret looks like, and texts without it: too much is hidden rather than too little, in linear time.

A pattern is compiled when a text first holds one of its needles, so a record without secrets costs no regular
expression. Nothing is tried from the middle of a run that an earlier try has read: no text is read twice.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Any

    Tree = Any

REDACTED = "[redacted]"
TOO_DEEP = "[nested too deep]"
DEEPEST = 60
# A pass can uncover what the pass before it hid, say a quote inside the password of an address.
PASSES = 8

# In names of fields, written together: `X-Api-Key` is `xapikey`.
NAME_PARTS = (
    "password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "authorization",
    "credential",
)  # fmt: skip
# `max_tokens` and `token_count` are numbers that people look for.
NAME_ENDS = ("token", "cookie")

_WORD = (
    r"(?:pass(?:word|wd|phrase)|[_-]pass|[_-]pwd|[_-]auth|secret|credentials?|token|api[_-]?key"
    r"|(?:secret|access|private)[_-]?(?:access[_-]?)?key)(?![a-z])"
)
_WORDS = (
    "pass", "_pwd", "-pwd", "_auth", "-auth", "secret", "credential", "token", "apikey", "api_key", "api-key",
    "accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key",
)  # fmt: skip
_SCHEME = r"(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t\\]++)?+"
# Not what was replaced already, and not a command that prints the secret.
_NEW = r"(?!\[redacted\]|\$\()"
# In quotes, in quotes that are escaped themselves, or up to what ends a word.
_VALUE = rf"""(?:"(?:[^"\\]|\\.)*+"?|'[^']*+'?|\\+["'][^"']*+["']?|{_SCHEME}{_NEW}[^\s&;|"'<>]++)"""
_PEM = "[A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,10}"
_SUFFIX = r"""(?:[_-][a-z0-9_-]{0,30})?\\*+["']?+"""
_GETS = r"""(?:[ \t]*:[ \t]*[\w.|\[\]]{1,40}[ \t]*=[ \t]*(?=["'])|\s*(?::?=>?|:)\s*+|>)"""
# Where a word starts, also behind the `\n` of a text that is escaped.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"

# What surrounds a secret, in any case: needles, pattern, what is put in its place. The order matters: what
# spans lines comes first, and what names a secret comes before the tables of what one looks like.
CONTEXTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    # RFC 7468, and OpenSSH's and PGP's forms of it; a text that was cut has no end line.
    (
        ("private key",),
        rf"-----BEGIN {_PEM}-----.*?(?:-----END {_PEM}-----|\Z)",
        REDACTED,
    ),
    # RFC 9110, 11.6.2, and the schemes that are in use.
    (
        ("authorization",),
        rf"""(authorization\\*+["']?+[ \t]*+[:=][ \t]*+\\*+["']?+{_SCHEME}){_NEW}[^\s"']++""",
        rf"\1{REDACTED}",
    ),
    # RFC 6750, 2.1.
    (("bearer",), rf"(bearer[ \t\\]++){_NEW}[A-Za-z0-9._~+/=-]{{16,}}+", rf"\1{REDACTED}"),
    # RFC 6265, 4.2.
    (("cookie:",), rf"""(cookie:[ \t]*+){_NEW}[^\r\n"']++""", rf"\1{REDACTED}"),
    # RFC 3986, 3.2.1: `user:password@`. The password may have an @ that should have been escaped.
    (("://",), rf"""(://[^\s/@:"'<>]{{0,128}}:){_NEW}[^\s/"'<>]+@""", rf"\1{REDACTED}@"),
    # curl(1): -u user:password.
    (
        (" -u", "--user", "--proxy-user"),
        rf"""(?<!\S)(-u[ \t]*|--(?:proxy-)?user[ \t=]+)(["']?[^\s:"']{{1,128}}:){_NEW}[^\s"']++""",
        rf"\1\2{REDACTED}",
    ),
    # sshpass(1): -p password; mysql(1) and mariadb(1): -ppassword, in one word, where -P is the port.
    (("sshpass",), rf"(sshpass[ \t]+-p[ \t]*){_NEW}{_VALUE}", rf"\1{REDACTED}"),
    (
        ("mysql", "mariadb"),
        rf"((?:mysql|mariadb)[a-z-]{{0,20}}[ \t](?:[^\n|;&]{{0,200}}?[ \t])??(?-i:-p)){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # In a sentence: what has a digit in it, so that a password that is wrong or missing can be told.
    (
        ("password is", "passwd is", "passphrase is", "token is", "key is", "secret is"),
        rf"((?:pass(?:word|wd|phrase)|token|key|secret) is:?[ \t]+)(?=\S{{0,64}}[0-9]){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # A flag and the word behind it.
    (
        _WORDS,
        rf"""((?<![^\s"'(])--?[a-z0-9_-]{{0,30}}?{_WORD}[a-z0-9_-]{{0,20}}[ \t]+)(?!-){_NEW}{_VALUE}""",
        rf"\1{REDACTED}",
    ),
    # An assignment in a shell, an address, a file of settings or a program, where a type may stand between.
    (
        _WORDS,
        rf"({_WORD}{_SUFFIX}{_GETS}){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
)

# What a secret itself looks like: needles and pattern, in this case of letters only.
FORMATS: tuple[tuple[tuple[str, ...], str], ...] = (
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, "Understanding unique ID prefixes".
    (("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}"),
    # github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9_]{16,}"),
    (("github_pat_",), r"github_pat_[A-Za-z0-9_]{16,}"),
    # docs.gitlab.com/security/tokens, "Token prefixes".
    (("glpat-", "gldt-", "glrt-", "glptt-"), r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_.-]{16,}"),
    # OpenAI's `sk-…` and `sk-proj-…` (platform.openai.com/docs/api-reference/authentication), Anthropic's
    # `sk-ant-…` (docs.anthropic.com/en/api/getting-started); not `task-…` and `disk-…`.
    (("sk-",), rf"{_START}sk-[A-Za-z0-9_-]{{16,}}"),
    # docs.slack.dev/authentication/tokens and …/messaging/sending-messages-using-incoming-webhooks.
    (("xox", "xapp-"), r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}"),
    (("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}"),
    # cloud.google.com/docs/authentication/api-keys; the other two are OAuth access tokens and client secrets.
    (("AIza",), r"AIza[A-Za-z0-9_-]{30,}"),
    (("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{16,}"),
    # docs.stripe.com/api/authentication; restricted keys: gitlab.com/gitlab-org/gitlab/-/issues/458019
    (("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    # github.blog/security/announcing-npms-new-access-token-format and pypi.org/help/#apitoken.
    (("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    (("pypi-",), r"pypi-[A-Za-z0-9_-]{30,}"),
    # huggingface.co/docs/hub/security-tokens
    (("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    # RFC 7519, 3.1: header and claims are JSON objects, and base64 of `{"` is `eyJ`.
    (("eyJ",), rf"{_START}eyJ[A-Za-z0-9_-]{{8,}}+\.eyJ[A-Za-z0-9_-]{{8,}}+(?:\.[A-Za-z0-9_-]*+)?"),
)

# `xoxb-` and ten characters.
SHORTEST_FORMAT = 15
_ANY_CASE = tuple({needle: None for needles, _, _ in CONTEXTS for needle in needles})
_THIS_CASE = tuple({needle: None for needles, _ in FORMATS for needle in needles})
_compiled: dict[str, re.Pattern[str]] = {}


def walk(value: Tree, text: Callable[[str], str], depth: int = 0) -> Tree:
    """Every text of a tree, keys too, given to a function; the values of secret names are replaced."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth > DEEPEST:
        return TOO_DEEP
    if hasattr(value, "items"):
        return {
            new: held for name, below in value.items() for new, held in [_field(name, below, text, depth)]
        }
    if isinstance(value, (list, tuple)):
        kept = [walk(below, text, depth + 1) for below in value]
        for number, before in enumerate(value[:-1]):
            # A command as a list of words: the word behind `--password`.
            if isinstance(before, str) and before.startswith("-") and "=" not in before and secret(before):
                kept[number + 1] = _hidden(kept[number + 1])
        return kept
    return text(str(value))


def _field(name: object, value: Tree, text: Callable[[str], str], depth: int) -> tuple[Tree, Tree]:
    if not isinstance(name, str):
        return name if name is None or isinstance(name, (int, float)) else text(str(name)), walk(
            value, text, depth + 1
        )
    shown = text(name)
    if secret(name) or (shown != name and secret(shown)):
        return shown, _hidden(value)
    return shown, walk(value, text, depth + 1)


def _hidden(value: Tree) -> Tree:
    """Whether there is a value at all is no secret."""
    return value if value is None or value == "" or isinstance(value, bool) else REDACTED


def secret(name: str) -> bool:
    """Whether a name says that its value is a secret."""
    joined = name.lower().replace("_", "").replace("-", "").replace(" ", "")
    if joined.endswith(NAME_ENDS):
        return True
    for part in NAME_PARTS:  # noqa: SIM110  (`any` takes three times as long, and this is asked for every field)
        if part in joined:
            return True
    return False


def clean(text: str) -> str:
    """A text without secrets."""
    if not _suspicious(text):
        return text
    import re

    for _ in range(PASSES):
        before = text
        lower = text.lower()
        for needles, pattern, instead in CONTEXTS:
            if any(needle in lower for needle in needles):
                text = _pattern(pattern, re.IGNORECASE | re.DOTALL).sub(instead, text)
        for needles, pattern in FORMATS:
            if any(needle in text for needle in needles):
                text = _pattern(pattern, 0).sub(REDACTED, text)
        if text == before:
            break
    return text


def _suspicious(text: str) -> bool:
    """Whether any needle is in a text; every text is asked, so these are loops over plain tuples."""
    lower = text.lower()
    for needle in _ANY_CASE:
        if needle in lower:
            return True
    if len(text) < SHORTEST_FORMAT:
        return False
    for needle in _THIS_CASE:  # noqa: SIM110  (as above)
        if needle in text:
            return True
    return False


def _pattern(pattern: str, flags: int) -> re.Pattern[str]:
    if pattern not in _compiled:
        import re

        _compiled[pattern] = re.compile(pattern, flags)
    return _compiled[pattern]
