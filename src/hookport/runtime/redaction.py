"""Secrets, and texts without them: rather too much is hidden than too little, in linear time.

Three laws, in this order. The name reveals it: an option, an assignment, a header, an address, a program that
takes a password. The start reveals it: the prefixes that vendors give to their tokens. The letters reveal it:
a long word in which few pairs of letters belong to a language, and which is no hash, id, path or image.

A pattern is compiled when a text first contains one of its needles, so a record without secrets needs no
regular expression. No match starts inside a run that an earlier attempt has read: no text is read twice.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any

    from hookport.base.tree import Tree

REDACTED = "[redacted]"
TOO_DEEP = "[nested too deep]"
DEEPEST = 60
# A pass can reveal what an earlier pass hid, such as a quote inside the password of an address.
PASSES = 8

# In names of fields, without separators: `X-Api-Key` is `xapikey`.
NAME_PARTS = (
    "password",
     "passwd", "passphrase", "passcode", "secret", "apikey", "accesskey", "privatekey", "authkey",
    "signingkey",
     "encryptionkey", "masterkey", "accountkey", "subscriptionkey", "licensekey", "authorization",
    "credential",
)  # fmt: skip
# `max_tokens` and `token_count` are numbers that people search for.
NAME_ENDS = ("token", "cookie", "pwd", "pw", "auth", "creds", "mnemonic")
# The place or kind of a secret is not a secret: `password_file`, `tokenUrl`.
OPEN = (
    "file",
     "path", "dir", "stdin", "name", "url", "uri", "endpoint", "type", "ttl", "length", "count", "limit",
    "policy",  "manager", "store", "helper", "ref", "expiry", "env",
)  # fmt: skip

KEY_WORDS = (
    "secret",  "access", "private", "encrypt", "encryption", "sign", "signing", "master", "auth", "license",
    "licence",  "account", "subscription", "shared", "storage", "webhook", "admin", "consumer", "function",
    "functions",  "host", "instrumentation", "hmac",
    "jwt", "aes", "deploy", "service", "project", "app", "client",
)  # fmt: skip
WORDS = (
    "pass",
     "psk", "_pw", "-pw", "_auth", "-auth", "secret", "cred", "token", "mnemonic", "apikey", "api_key",
    "api-key",
    *(f"{word}{joint}key" for word in KEY_WORDS if word != "secret" for joint in ("", "_", "-")),
)  # fmt: skip
# `git config user.password x`, `aws configure set aws_secret_access_key x`, `nmcli … connect … password x`.
_SETTERS = frozenset(
    {"set", "add", "put", "config", "configure", "insert", "connect", "edit", "machine", "setx"}
)

_BODY = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
# Not at the end of a token.
_INNER = frozenset(".+/=~")
# How a secret starts, and its least length after that, in this case of letters only. The facts are from
# github.com/gitleaks/gitleaks, config/gitleaks.toml at b58d3f10 (2026-07-22), unless noted otherwise.
PREFIXES: tuple[tuple[str, int], ...] = (
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html, "Understanding unique ID prefixes".
    ("AKIA", 16),  ("ASIA", 16), ("ABIA", 16), ("ACCA", 16), ("ABSK", 60), ("bedrock-api-key-", 16),
    # github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available
    ("ghp_", 16),  ("gho_", 16), ("ghu_", 16), ("ghs_", 16), ("ghr_", 16), ("github_pat_", 16),
    # docs.gitlab.com/security/tokens, "Token prefixes".
    ("glpat-", 16),
     ("gldt-", 16), ("glrt-", 16), ("glptt-", 16), ("glcbt-", 16), ("glffct-", 16), ("glft-", 16),
    ("glimt-", 16),
     ("glagent-", 16), ("gloas-", 16), ("glsoat-", 16), ("GR1348941", 16), ("_gitlab_session=", 16),
    # OpenAI's `sk-…` and `sk-proj-…` (platform.openai.com/docs/api-reference/authentication), Anthropic's
    # `sk-ant-…` (docs.anthropic.com/en/api/getting-started); not `task-…` and `disk-…`.
    ("sk-", 16),
    # docs.slack.dev/authentication/tokens
    ("xoxa-", 10),
     ("xoxb-", 10), ("xoxc-", 10), ("xoxd-", 10), ("xoxe-", 10), ("xoxe.", 10), ("xoxo-", 10),
    ("xoxp-", 10),  ("xoxr-", 10), ("xoxs-", 10), ("xapp-", 10),
    # cloud.google.com/docs/authentication/api-keys; then OAuth access tokens, client secrets, refresh tokens.
    ("AIza", 30),  ("ya29.", 16), ("GOCSPX-", 16), ("1//0", 30),
    # docs.stripe.com/api/authentication; restricted keys: gitlab.com/gitlab-org/gitlab/-/issues/458019
    ("sk_live_", 10),
     ("sk_test_", 10), ("sk_prod_", 10), ("rk_live_", 10), ("rk_test_", 10), ("rk_prod_", 10),
    ("whsec_", 16),
    # github.blog/security/announcing-npms-new-access-token-format and pypi.org/help/#apitoken.
    ("npm_", 30),  ("pypi-", 30), ("rubygems_", 16), ("oy2", 40), ("CLOJARS_", 16),
    # huggingface.co/docs/hub/security-tokens; then other makers of models, by their own documentation.
    ("hf_", 30),  ("api_org_", 16), ("pplx-", 16), ("gsk_", 20), ("xai-", 20), ("r8_", 30), ("nvapi-", 20),
    ("tvly-", 16),  ("pcsk_", 20), ("lsv2_", 20), ("jina_", 20),
    # Clouds and hosts.
    ("dop_v1_", 16),
     ("doo_v1_", 16), ("dor_v1_", 16), ("dapi", 32), ("LTAI", 12), ("HRKU-", 16), ("heroku_", 30),
    ("fo1_", 16),  ("fm1a_", 16), ("fm1r_", 16), ("fm2_", 16), ("pul-", 20), ("tk-us-", 16), ("AQVN", 30),
    ("v1.0-", 40),  ("sbp_", 16), ("sb_secret_", 16), ("nfp_", 16), ("rnd_", 16), ("pscale_tkn_", 16),
    ("pscale_oauth_", 16),  ("pscale_pw_", 16), ("CFPAT-", 16), ("dckr_pat_", 16), ("dckr_oat_", 16),
    ("tskey-", 12),
     ("sha256~", 16), ("hvs.", 16), ("hvb.", 16), ("hvr.", 16), ("dp.pt.", 16), ("dp.st.", 16),
    ("dp.ct.", 16),
     ("dp.sa.", 16), ("ATATT3", 16), ("ATCTT3", 16), ("ATBB", 20), ("AKCp", 30), ("cmVmd", 40),
    # Services.
    ("SG.", 16),  ("xkeysib-", 16), ("xsmtpsib-", 16), ("shpat_", 16), ("shpca_", 16), ("shppa_", 16),
     ("shpss_", 16), ("shptka_", 16), ("shippo_live_", 16), ("shippo_test_", 16), ("sq0atp-", 16),
    ("sq0csp-", 16),  ("EAAA", 40), ("EAAC", 40), ("EAAM", 40), ("EZAK", 30), ("EZTK", 30), ("FLWSECK", 10),
    ("duffel_live_", 16),
     ("duffel_test_", 16), ("dt0c01.", 16), ("dt0s01.", 16), ("glc_", 16), ("glsa_", 16), ("eyJrIjoi", 30),
     ("NRAK-", 16), ("NRJS-", 16), ("NRII-", 16), ("NRAL-", 16), ("ntn_", 16), ("secret_", 40),
    ("lin_api_", 16),  ("lin_oauth_", 16), ("PMAK-", 16), ("pnu_", 16), ("rdme_", 16), ("sntrys_", 16),
    ("sntryu_", 16),
     ("sm_aat_", 16), ("sm_pat_", 16), ("sm_sat_", 16), ("squ_", 16), ("sqp_", 16), ("sqa_", 16),
    ("sgp_", 16),  ("tfp_", 16), ("figd_", 16), ("figu_", 16), ("phx_", 20), ("bkua_", 16), ("CCIPAT_", 16),
    ("pat-na1-", 16),  ("pat-eu1-", 16), ("access-sandbox-", 16), ("access-development-", 16),
    ("access-production-", 16),  ("p8e-", 16), ("ico-", 32), ("fio-u-", 16), ("s-s4t2", 16), ("dnkey-", 16),
     ("ops_eyJ", 16), ("A3-", 20), ("AGE-SECRET-KEY-1", 16), ("apify_api_", 16), ("4b1d", 38), ("pat", 70),
)  # fmt: skip

# Pairs of letters in words of English and of programs: 150 pairs that make 81 % of those in this repository
# and the standard library, and 22 % of those in random letters.
_PAIRS = (
    "ab ac ad ag ai al am an ap ar as at ba be bl ca ce ch ck cl co cr ct cu da de di do ds ea ec ed ee "
    "ef el em en ep er es et ev ex ff fi fo ge ha he hi ho ia ic id ie if ig il im in io ip ir is it iv "
    "ke la le li ll lo ls lt ly ma me mi mo mp na nc nd ne ng ni no ns nt oc od ol om on oo op or os ot "
    "ou ow pa pe pi pl po pp pr pt qu ra rc rd re ri rm ro rr rs rt sa sc se sh si so sp ss st su ta tc "
    "te th ti to tr ts tt tu ty ul um un up ur us ut va ve "
)
HEX, DIGITS = frozenset("0123456789abcdefABCDEF"), frozenset("0123456789")
# Of MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512.
HASHES = frozenset({32, 40, 56, 64, 96, 128})
# After a prefix; a short hash of a file has 8 to 20 digits.
SHORT_HEX = 24
HASH_NAMES = (
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "md5",
    "h1",
    "blake2b",
    "blake3",
    "digest",
    "commit",
    "rev",
)
# The least length of a word: after a name, after a prefix, by itself, of letters only.
NAMED, JOINED, ALONE, LETTERS = 12, 16, 20, 24
# In a line about secrets; and of a password after a name that is not an option.
CLOSE, SHORTEST_CHOSEN = 10, 6
# The words that mark such a line, before the secret.
NEAR = (
    "pass", "pw", "secret", "token", "login", "auth", "cred", "key", "sign", "cert", "session", "user",
    "lock", "vault", "jdbc:", "acl ", "connect", "crypt", " -p ", "net use", "account", "admin", "variable",
    "env:",
)  # fmt: skip
# The share of pairs in a word that no language has: 0.19 in words, 0.83 in random base 62.
RANDOM = 0.55
# The same for a short word without a name beside it: with a digit, and of letters only.
SURELY_RANDOM, SURELY_RANDOM_LETTERS = 0.65, 0.8
# A run of the same few letters is no secret.
FEWEST = 8
# How much text before a word is read.
LOOK_BACK = 160
# An Ethereum address with its `0x`; a private key has 66 characters.
ADDRESS = 42
# Names whose values are secrets only if they look like one.
_PERHAPS = (
    "key",
    "auth",
    "token",
    "salt",
    "signature",
    "sig",
    "password",
    "secret",
    "session",
    "sid",
    "otp",
    "dsn",
    "certificate",
)
# Those of them after which even an id is a secret; and what separates a name from its value.
_SURELY, _BETWEEN = ("token", "secret", "password", "auth", "apikey"), " \t\"'\\=:>[("
# Names whose values are hashes.
_OF_HASHES = (
    *HASH_NAMES,
     "sha", "hash", "sum", "md5", "ref", "oid", "id", "tag", "version", "head", "base", "tree", "parent",
    "object",
     "etag", "build", "image", "cache", "fingerprint", "integrity", "release", "branch", "from", "to",
    "hex",  "color", "seed", "since", "until", "fixup", "onto", "q", "query", "filter",
)  # fmt: skip
# Pictures, and public keys of OpenSSH.
_KNOWN_STARTS = (
    "iVBORw0KGgo",
     "/9j/", "R0lGOD", "UklGR", "PHN2Zy", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNr",
)  # fmt: skip
_MEDIA = ("data:image/", "data:font/", "data:audio/", "data:video/")

# `xoxb-` and ten characters.
SHORTEST_FORMAT = 15
_PIPED = ("context create", "crypt", "keyring", "load-key", "luks", "openconnect", "runas", "vault")
# The needles of `secret_patterns`, each once: a text without any of them needs no pattern.
ANY_CASE = (
    *WORDS,
    "private key", "authorization", "bearer", "cookie:", "key:", "token:", "auth:", "secret:", "signature:",
    "session:", "session-id:", "credential:", "@", "key=", "sig=", "signature=", "code=", "auth=", "sid=",
    "session=", "jwt=", "hmac=", "ticket=", "otp=", "pwd=", "pass=", "credential=", "pwd =", "pw=", "pw =",
    " -u", "--user", "--proxy-user", "http ", "https ", "xh ", "sshpass", "mysql", "mariadb", "redis-cli",
    "valkey-cli", "ldap", "mongo", "cqlsh", "twine", "influx", "login", "sqlcmd", "bcp", "isql", "osql",
    "mosquitto_", "zip -", "7z ", "7za ", "7zz ", "rar a ", "rar x ", "openssl", "gpg", "ssh-keygen", "snmp",
    "useradd", "usermod", "adduser", "freerdp", "rdesktop", "doctl", "vercel", "netlify", "htpasswd", "lftp",
    "/user:", "add_user", "add-user", "user create", "user add", "-password", "_password", "<(echo",
    "<(printf", "passwordeval", "expect", "spawn", ":5432:", ":*:", "auth=(", "auth = (", "auth=[", REDACTED,
    f"{REDACTED}:", "unseal", "snyk", "authtoken", "obscure", "wpa_passphrase", "net use",
    "net user", "alias set",
    "config host add", "sudo -", "-stdin", "secret set", "secret put", "secrets set", "secret create", "<<<",
    "--from-literal", "secrets:set", "identified", "password", "password is", "passwd is", "passphrase is",
    "token is", "key is", "secret is", "value=", "--cert", "-generic-password", "-internet-password", "ab -",
    "appid=", "bundle config", "bw unlock", "codecov", "config set --secret", "creds", "drush", "encrypt_",
    "http-basic.", "jwt.", "kinit", "otp:", "put-parameter", "rabbitmqadmin", "signtool", "sqlplus",
    "--cookie", "-mfa", "-otp", "-pin", "-puk", "-token", "-totp", "<<", "activate ", "api-key ", "apikey ",
    "auth ", "authenticat", "authenticate ", "authtoken ", "base64", "basic ", "basic_auth", "basicauth",
    "bootstrap ", "context create", "credential", "crypt", "expdp", "hash-password", "impdp", "jdbc:",
    "keychain", "keyring", "license ", "load-key", "login ", "luks", "mkpasswd", "openconnect",
    "openssl passwd", "pass ", "passphrase", "passw", "passwordauth", "pw:", "pw_set", "pwd :", 'pwd":',
    "pwd':", "pwd:", "register ", "rman ", "runas", "secret add", "secrets add", "securestring", "set-key ",
    "setuser", "sign_in", "signin", "signin ", "sqlcl", "sqlldr", "token ", "unlock", "unlock ", "unseal ",
    "vault", "recovery phrase", "recovery_phrase", "seed phrase", "seed_phrase", "seedphrase",
    " -n ", "-2fa", "-two-factor", "-twofactor", "authenticate", "chpasswd", "ldappasswd",
    "client(", "search(", "connect(", "session(", "init(", "reg add",
)  # fmt: skip
THIS_CASE = (
    "hooks.slack.com/", "/api/webhooks/", ".office.com/webhook", ":A", "SK", "key-", "API-", ".atlasv1.",
    "Q~", "_mmk", "pat.", "sat.", "eyJ",
    ".alchemy.com/v2/", "1/1", "2/1", "://hook", "://webhook", "infura.io/v3/", "mob-", "sdk-",
)  # fmt: skip
# Each needle of ANY_CASE contains one of these; they are tested first, because they are a third as many.
ROOTS = (
    " -n ", " -u", "--cert", "--cookie", "--from-literal", "-2fa", "-mfa", "-pin", "-puk",
    "-stdin", "-two-factor", "-twofactor", "7z ", "7za ", "7zz ", ":*:", ":5432:", "<(echo", "<(printf", "<<",
    "@", REDACTED, "ab -", "activate ", "alias set", "appid=", "auth", "base64", "basic ", "bcp", "bearer",
    "bootstrap ", "bundle config", "code=", "codecov", "config host add", "context create", "cookie:",
    "cqlsh", "cred", "crypt", "doctl", "drush", "expdp", "expect", "freerdp", "gpg", "hmac=", "http ",
    "http-basic.", "https ", "identified", "impdp", "influx", "jdbc:", "jwt.", "jwt=", "key", "kinit", "ldap",
    "lftp", "license ", "login", "luks", "mariadb", "mnemonic", "mongo", "mosquitto_", "net use", "netlify",
    "obscure",
    "open", "otp", "pass", "psk", "put-parameter", "pw", "rabbitmqadmin", "rar a ", "rar x ", "rdesktop",
    "recovery phrase", "recovery_phrase", "redis-cli", "register ", "rman ", "runas", "secret",
    "securestring", "seed phrase", "seed_phrase", "seedphrase", "session", "sid=", "sig", "snmp", "snyk",
    "spawn", "sql", "sudo -", "ticket=", "token", "twine", "unlock", "unseal", "user", "value=", "vault",
    "vercel", "xh ", "zip -",
    "client(", "search(", "connect(", "init(", "reg add",
)  # fmt: skip
# Every pattern of such a needle also needs one of these, so `sort -u` and `npm i @scope/name` need none.
BESIDES = {
    " -u": (":", "-p", "%", "-w"), "--user": (":", "-p", "%", "-w"), "--proxy-user": (":",), "@": (":",),
    " -n ": (":",),
    # Of what reads a pipe, and a here-document.
    **dict.fromkeys(_PIPED, ("|",)),
    "<<": (
        *_PIPED, "sudo -", "pass", "stdin", "-token", "secret", "login", "log-in", "kinit", "unlock",
        "unseal", "cred", "auth", "keychain",
    ),
}  # fmt: skip
_compiled: dict[str, re.Pattern[str]] = {}
_loaded_tables: list[Any] = []


def walk(value: Tree, text: Callable[[str], str], depth: int = 0) -> Tree:
    """Apply a function to every text of a tree, keys too; values of secret names are replaced."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth > DEEPEST:
        return TOO_DEEP
    if hasattr(value, "items"):
        if (
            "value" in value
            and isinstance(named := value.get("name", value.get("key")), str)
            and is_secret_name(named)
        ):
            # A variable in two fields: {"name": "DB_PASSWORD", "value": …}.
            value = {**value, "value": _hide(value["value"])}
        return {
            new: held
            for name, below in value.items()
            for new, held in [_redact_field(name, below, text, depth)]
        }
    if isinstance(value, (list, tuple)):
        items = [walk(below, text, depth + 1) for below in value]
        for number, before in enumerate(value[:-1]):
            # A command as a list of words: the word behind `--password`.
            if (
                isinstance(before, str)
                and before.startswith("-")
                and "=" not in before
                and is_secret_name(before)
            ):
                items[number + 1] = _hide(items[number + 1])
        return items
    return text(str(value))


def _redact_field(name: object, value: Tree, text: Callable[[str], str], depth: int) -> tuple[Tree, Tree]:
    if not isinstance(name, str):
        return name if name is None or isinstance(name, (int, float)) else text(str(name)), walk(
            value, text, depth + 1
        )
    shown = text(name)
    if is_secret_name(name) or (shown != name and is_secret_name(shown)):
        return shown, _hide(value)
    return shown, walk(value, text, depth + 1)


def _hide(value: Tree) -> Tree:
    """Hide a value; whether it exists is no secret."""
    return value if value is None or value == "" or isinstance(value, bool) else REDACTED


def is_secret_name(name: str) -> bool:
    """Whether a name marks its value as a secret."""
    joined = name.lower().replace("_", "").replace("-", "").replace(" ", "")
    if joined.endswith(NAME_ENDS):
        return True
    if joined.endswith(OPEN):
        return False
    for part in NAME_PARTS:  # noqa: SIM110  (`any` takes three times as long, and this is asked for every field)
        if part in joined:
            return True
    return False


def clean(text: str) -> str:
    """Remove secrets from a text."""
    if len(text) < SHORTEST_FORMAT and text.replace("_", "").replace("-", "").isalpha():
        # A name, like most texts of a journal: too short for a secret, and without a value.
        return text
    for _ in range(PASSES):
        before = text
        lower = text.lower()
        if _has_any(lower, ROOTS) and _has_needle(lower, ANY_CASE):
            import re

            from hookport.runtime import secret_patterns

            for needles, pattern, instead in secret_patterns.CONTEXTS:
                if _has_needle(lower, needles):
                    text = _compile(pattern, re.IGNORECASE | re.DOTALL).sub(instead, text)
            if _has_needle(lower, WORDS):
                named = _compile(secret_patterns.NAMED_VALUE, re.IGNORECASE | re.DOTALL)
                text = _redact_named(text, named)
        if len(text) >= CLOSE:
            text = _redact_tokens(text)
            text = _redact_words(text)
        if text == before:
            break
    return text


def _redact_named(text: str, pattern: re.Pattern[str]) -> str:
    """Remove the values of secret names from a text."""
    parts, done, at = [], 0, 0
    while match := pattern.search(text, at):
        if (
            match[2].strip(" \t")
            or _takes_word(text[max(0, match.start() - LOOK_BACK) : match.start()], match[1])
            or _is_chosen(match[3])
        ):
            parts += [text[done : match.start(3)], REDACTED]
            done = at = match.end()
        else:
            at = match.end(1)
    return "".join([*parts, text[done:]]) if parts else text


def _takes_word(before: str, name: str) -> bool:
    """Whether the word after a name is its value: `--password x`, `config set user.password x`."""
    command = before[max(before.rfind(sign) for sign in "\n|;&") + 1 :]
    word = command[max(command.rfind(sign) for sign in " \t\"'(") + 1 :] + name
    if word.startswith("-"):
        return "=" not in word and not name.lower().endswith("id")
    for sign in "._\"'":
        command = command.replace(sign, " ")
    return not _SETTERS.isdisjoint(command.lower().split())


def _is_chosen(word: str) -> bool:
    """Whether a word after the name of a secret is a password rather than the next word of a sentence."""
    body = word.strip("\"'.,;")
    return (
        len(body) >= SHORTEST_CHOSEN
        and _has_digit(body)
        and not body.replace("-", "").isdigit()
        and not body.isspace()
        and all(sign not in body for sign in " ./:()[]{}")
        and not all(sign in HEX for sign in body)
    )


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110  (as above)
        if word in text:
            return True
    return False


def _has_needle(text: str, needles: tuple[str, ...]) -> bool:
    """Whether a text has any needle; this runs for every text, so it loops over a plain tuple."""
    for needle in needles:
        if needle in text:
            besides = BESIDES.get(needle)
            if besides is None or any(sign in text for sign in besides):
                return True
    return False


def _redact_tokens(text: str) -> str:
    """Remove tokens with a vendor's prefix from a text."""
    if len(text) < SHORTEST_FORMAT:
        return text
    for prefix, least in PREFIXES:
        if prefix in text:
            text = "".join(_replace_tokens(text, prefix, least))
    if _has_needle(text, THIS_CASE):
        from hookport.runtime import secret_patterns

        for needles, pattern in secret_patterns.FORMATS:
            if _has_needle(text, needles):
                text = _compile(pattern, 0).sub(REDACTED, text)
    return text


def _replace_tokens(text: str, prefix: str, least: int) -> Iterator[str]:
    """Replace every token with this prefix."""
    done, at = 0, text.find(prefix)
    while at >= 0:
        start = end = at + len(prefix)
        while end < len(text) and (
            text[end] in _BODY or (text[end] in _INNER and end + 1 < len(text) and text[end + 1] in _BODY)
        ):
            end += 1
        body = text[start:end]
        if end - start >= least and _starts_word(text, at) and _is_token(body):
            yield text[done:at]
            yield REDACTED
            done = end
        at = text.find(prefix, max(start, end - len(prefix)))
    yield text[done:]


def _is_token(body: str) -> bool:
    """Whether a prefix is followed by more than words: `npm_config_cache_folder` is no secret."""
    return (
        _has_digit(body)
        or _measure_longest(body) >= JOINED
        or (not body.islower() and _is_random(body, [body]))
    )


def _starts_word(text: str, at: int) -> bool:
    """Whether a word starts there, also after an escaped line end."""
    return at == 0 or text[at - 1] not in _BODY or (text[at - 1] in "nrt" and text[at - 2 : at - 1] == "\\")


def _redact_words(text: str) -> str:
    """Remove long words of no language from a text."""
    spaced = text if text.isascii() else "".join(sign if sign < "\x80" else " " for sign in text)
    words = [word for word in spaced.translate(_load_tables()[0]).split() if len(word) >= CLOSE]
    parts, done, cursor = [], 0, 0
    for word in words:
        at = text.index(word, cursor)
        cursor = at + len(word)
        for start, end in _find_secrets(word, text[max(0, at - LOOK_BACK) : at]):
            parts += [text[done : at + start], REDACTED]
            done = at + end
    return "".join([*parts, text[done:]]) if parts else text


def _find_secrets(word: str, before: str) -> Iterator[tuple[int, int]]:
    """Find the secrets in a word, each value of `a=b=c` by itself; `before` is the text before it."""
    start, last = 0, len(word.rstrip("="))
    while start < last:
        end = word.find("=", start, last)
        end = last if end < 0 else end
        part = word[start:] if end == last else word[start:end]
        for first, after in _find_secrets_in(part, before):
            yield start + first, start + after
        before = f"{before}{part}="[-LOOK_BACK:]
        start = end + 1


def _find_secrets_in(word: str, before: str) -> Iterator[tuple[int, int]]:
    if len(word) < NAMED:
        if len(word) >= CLOSE and _is_short_secret(word, before):
            yield 0, len(word)
        return
    if word.startswith(_KNOWN_STARTS) or _is_address(word):
        return
    if _is_hash(word, before) or _is_media(before):
        return
    if word.startswith("//") and "." in word[2:].partition("/")[0] and not _is_named(before):
        # An address: each part of its path by itself.
        at = word.find("/", 2)
        while 0 <= at < len(word) - 1:
            end = word.find("/", at + 1)
            end = len(word) if end < 0 else end
            for first, after in _find_secrets_in(word[at + 1 : end], "/"):
                yield at + 1 + first, at + 1 + after
            at = end
        return
    chunks = word.translate(_load_tables()[1]).split()
    if (
        (_is_named(before) and _may_be_secret(word, chunks, before))
        or (before.endswith("=") and _is_value(word, before))
        or (len(word) >= ALONE and _is_mixed(word) and _is_random("".join(chunks), chunks))
        or any(_is_secret(chunk, word) for chunk in chunks)
        or _is_short_secret(word, before)
    ):
        start, end = 0, len(word.rstrip("./"))
        if "/" in word and not _is_random("".join(chunks), chunks):
            # One part of a path.
            bad = next((chunk for chunk in chunks if _is_secret(chunk, word)), word)
            at = word.index(bad)
            start, end = word.rfind("/", 0, at) + 1, (word.find("/", at) + 1 or len(word) + 1) - 1
        yield start, end


def _is_hash(word: str, before: str) -> bool:
    """Whether its name marks it as a hash: `sha256:…`, `sha512-…`, `h1:…`."""
    first = word.partition("-")[0].lower()
    return first in HASH_NAMES or (
        before.endswith((":", "=", "/")) and before[:-1].lower().endswith(HASH_NAMES)
    )


def _is_media(before: str) -> bool:
    return before.endswith("base64,") and _has_needle(before, _MEDIA)


def _is_named(before: str) -> bool:
    """Whether a possible secret's name precedes it."""
    name = before.rstrip(_BETWEEN)
    return name != before and name.lower().endswith(_PERHAPS)


def _may_be_secret(word: str, chunks: list[str], before: str) -> bool:
    digits = sum(sign in DIGITS for sign in word)
    if (digits < 1 and len(word) < JOINED) or digits == len(word) or "/" in word.strip("/"):
        return False
    if _is_id(word):
        return before.rstrip(_BETWEEN).lower().endswith(_SURELY)
    return _measure_longest(word) >= 8 and (
        _is_random("".join(chunks), chunks) or all(sign in HEX for sign in word)
    )


def _is_short_secret(word: str, before: str) -> bool:
    """Whether a word too short for the other laws is random: certainly, or in a line about secrets."""
    if len(word) < CLOSE or "/" in word or "." in word or word.islower() or word.isupper():
        return False
    chunks = word.translate(_load_tables()[1]).split()
    if max(map(len, chunks), default=0) < CLOSE:
        return False
    if len(chunks) == 1 and len(word) >= NAMED and not word.endswith("="):
        least = SURELY_RANDOM if _has_digit(word) else SURELY_RANDOM_LETTERS
        if _is_random(word, [_part_cases(word)], least):
            return True
    line = before[before.rfind("\n") + 1 :].lower()
    return _has_any(line, NEAR) and _is_random("".join(chunks), list(map(_part_cases, chunks)))


def _part_cases(chunk: str) -> str:
    """Replace upper-case letters after lower-case ones by digits: names have few of them."""
    return "".join(
        "0" if sign.isupper() and chunk[at - 1 : at].islower() else sign for at, sign in enumerate(chunk)
    )


def _is_value(word: str, before: str) -> bool:
    """Whether a value looks like a hash, under a name that is not a hash's."""
    if len(word) < min(HASHES) or not all(sign in HEX for sign in word):
        return False
    return not before[:-1].lower().endswith(_OF_HASHES)


def _is_id(word: str) -> bool:
    """Whether it is a UUID."""
    return len(word) == 36 and [len(part) for part in word.split("-")] == [8, 4, 4, 4, 12]


def _is_address(word: str) -> bool:
    return len(word) == ADDRESS and word.startswith("0x") and all(sign in HEX for sign in word[2:])


def _is_mixed(word: str) -> bool:
    return _has_digit(word) and not word.islower() and not word.isupper()


def _is_secret(chunk: str, word: str) -> bool:
    """Whether one run of letters and digits is not a word of a language, a hash or a number."""
    if len(chunk) < JOINED or chunk.isdigit():
        return False
    at = word.index(chunk)
    is_joined = at > 0 and word[at - 1] in "_-"
    body = chunk.removeprefix("0x")
    if all(sign in HEX for sign in body) and (body.islower() or body.isupper() or body.isdigit()):
        if len(body) < (SHORT_HEX if is_joined else min(HASHES)):
            return False
        if len(body) not in (*HASHES, SHORT_HEX) or body is not chunk:
            return "/" not in word
        is_file = word[at + len(chunk) :].startswith(".") or "/" in word
        return is_joined and not is_file and not word[: at - 1].lower().endswith(HASH_NAMES)
    if "/nix/store/" in word:
        return False
    if not _has_digit(chunk):
        return len(chunk) >= LETTERS and "/" not in word and _is_random(chunk, [chunk])
    return (len(chunk) >= ALONE or (is_joined and _is_mixed(chunk))) and _is_random(chunk, [chunk])


def _is_random(letters: str, chunks: list[str], least: float = RANDOM) -> bool:
    """Whether most pairs belong to no language; pairs of digits do not count."""
    common, judged, odd = _load_tables()[2], 0, 0
    if len(set(letters)) < FEWEST:
        return False
    for chunk in chunks:
        lower = chunk.lower()
        for number in range(len(lower) - 1):
            is_digit, is_next_digit = lower[number] in DIGITS, lower[number + 1] in DIGITS
            if not (is_digit and is_next_digit):
                judged += 1
                odd += is_digit or is_next_digit or lower[number : number + 2] not in common
    return judged * 2 >= len(letters) and odd >= least * judged


def _has_digit(word: str) -> bool:
    for sign in word:  # noqa: SIM110  (as above)
        if sign in DIGITS:
            return True
    return False


def _measure_longest(word: str) -> int:
    return max(map(len, word.translate(_load_tables()[1]).split()), default=0)


def _load_tables() -> list[Any]:
    """Load the tables: separators of words, separators of the runs in a word, the pairs of letters."""
    if not _loaded_tables:
        alphabet = {ord(sign) for sign in _BODY if sign.isalnum()}
        inner = {ord(sign) for sign in "_+/=.~-"}
        _loaded_tables.append({code: " " for code in range(128) if code not in alphabet | inner})
        _loaded_tables.append(dict.fromkeys(inner, " "))
        _loaded_tables.append(frozenset(_PAIRS.split()))
    return _loaded_tables


def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    if pattern not in _compiled:
        import re

        _compiled[pattern] = re.compile(pattern, flags)
    return _compiled[pattern]
