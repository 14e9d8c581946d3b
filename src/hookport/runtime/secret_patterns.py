"""The patterns of secrets and of the text around them, with the needles that trigger them.

`redaction` has the needles too; it loads this module, and regular expressions, when a text contains one.
"""

from __future__ import annotations

from hookport.runtime.redaction import KEY_WORDS, OPEN, REDACTED, WORDS

_WORD = (
    r"(?:(?<!by)(?<!com)pass(?:word|wd|phrase|code)?|[_-]pwd?|[_-]auth|psk|secret|credentials?(?!:(?:edit|show|fetch))|(?<![a-z])creds?"
    r"|token|mnemonic|api[_-]?key"
    rf"|(?<!user\.)(?:{'|'.join(KEY_WORDS)})[_-]?(?:access[_-]?)?key)(?![a-z])"
)
_SCHEME = (
    r"(?:(?:bearer|basic|token|digest|negotiate|apikey|splunk|geniekey|sso-key|bot|ssws|oauth|jwt|key"
    r"|klaviyo-api-key|zoho-oauthtoken)[ \t\\]++)?+"
)
# Not an already replaced value, not a command that prints the secret, not a variable with it.
_VARIABLE = r"""\$(?:\{[a-z_][a-z0-9_]*+(?::?[-?][^}\s]*+)?\}|[a-z_][a-z0-9_]*+)"""
_NEW = (
    r"""(?!\[redacted\]|\$\(|"\$\(|""|''|(?:null|nil|none|true|false|undefined"""
    r"""|string|str|text|integer|int|boolean|bool|bytes|number)(?![a-z0-9_-])"""
    rf"""|"?{_VARIABLE}"?(?:[\s;&|)"',\]}}]|$))"""
)
# In quotes, maybe with a language's prefix, in escaped quotes, or up to the end of the word.
_VALUE = (
    rf"""(?:[bfnru@]?+"(?:[^"\\]|\\.)*+"?|[bfnru]?+'[^']*+'?|\\+["'][^"']*+["']?|{_SCHEME}[^\s&;|"'<>]++)"""
)
_PEM = "[A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,10}"
_SUFFIX = rf"""[0-9]?+(?![_-]?(?:{"|".join(OPEN)})(?![a-z]))(?:[_-][a-z0-9_-]{{0,30}})?\\*+["']?+\]?+"""
_GETS = r"""(?:[ \t]*:[ \t]*[\w.|\[\]]{1,40}[ \t]*=[ \t]*(?=["'])|\s*(?::?={1,3}+>?|:(?!:))\s*+|>|%3D)"""
# Where a word starts, also after the `\n` of an escaped text.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
# Programs that read a secret from stdin, by their name, sub-command or option; not those that search.
_READERS = (
    "sudo -", "passw", "passphrase", "pass ", "crypt", "-stdin", "-token", "secret", "login", "kinit",
    "unlock", "unseal", "vault", "cred", "auth ", "luks", "keyring", "keychain", "load-key", "runas",
    "openconnect", "context create",
)  # fmt: skip
_READER = (
    r"(?:sudo[ \t](?:[^|;&\n]{0,60}?[ \t])??-\w*S|[^|;&\n]{0,120}?(?<![\w./=])(?:"
    r"(?:ch|smb|vnc|g|l|ht|kee)?pass(?:w(?:d|ord)|xc-cli)?|[\w-]{0,20}(?:crypt|luks)\w*|kinit|runas|openconnect"
    r"|[\w-]{0,30}[_-]stdin|--with-token|[\w-]{0,20}(?:secrets?|log-?in|unlock|unseal|vault|creds?|credentials?"
    r"|passphrase(?:-fd)?|password|keyring|keychain|load-key)|auth|context[ \t]+create)(?![\w.]))"
)
_SEARCHES = (
    r"(?!(?:grep|egrep|rg|ag|jq|yq|sed|awk|tee|cat|less|more|head|tail|wc|sort|uniq|cut|tr|column|fold|bat)"
    r"(?![\w-]))"
)
# The rest of one command.
_ON = r"[^\n|;&]{0,200}?"


def _program(names: str, options: str, *, joined: bool = False) -> str:
    """Make a pattern for a program's option that takes a secret, in this case of letters."""
    joint = r"(?=\S)" if joined else r"[ \t=]+"
    return rf"((?<![\w-])(?:{names})(?![\w-]){_ON}[ \t](?-i:{options}){joint}){_NEW}{_VALUE}"


# What surrounds a secret, in any case of letters: needles, pattern, replacement. The order matters: patterns
# that span lines come first, and names of secrets come before the tables of secrets' own forms. The options
# are those of the programs' manuals.
CONTEXTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    # RFC 7468, and OpenSSH's and PGP's forms of it; a cut text has no end line.
    (
        ("private key",),
        rf"-----BEGIN {_PEM}-----.*?(?:-----END {_PEM}-----|\Z)",
        REDACTED,
    ),
    # RFC 9110, 11.6.2, and the schemes in use; some have several parameters.
    (
        ("authorization",),
        (
            rf"""(authorization\\*+["']?+[ \t]*+[:=][ \t]*+\\*+["']?+{_SCHEME}){_NEW}"""
            r"""(?!(?:bearer|basic|digest|negotiate)(?:[\s"'\\]|$))"""
            r"""(?:(?:[a-z0-9-]++[ \t]++)?+(?:[a-z]++=(?:\\?"[^"]*+"|[^\s"',]++),?[ \t]*+){2,}+|[^\s"']++)"""
        ),
        rf"\1{REDACTED}",
    ),
    # RFC 6750, 2.1.
    (("bearer",), rf"(bearer[ \t\\]++){_NEW}[A-Za-z0-9._~+/=-]{{16,}}+", rf"\1{REDACTED}"),
    # RFC 6265, 4.2.
    (("cookie:",), rf"""(cookie:[ \t]*+){_NEW}[^\r\n"']++""", rf"\1{REDACTED}"),
    # Any other header whose name marks a secret.
    (
        (
            "key:",
            "token:",
            "auth:",
            "secret:",
            "signature:",
            "session:",
            "session-id:",
            "credential:",
            "otp:",
        ),
        (
            r"""((?<!\S)(?:-H[ \t]*|--header[ \t=]+)["']?[a-z0-9_-]{0,40}?(?:key|token|auth|secret"""
            rf"""|signature|session|session-id|credential|otp):[ \t]*+){_NEW}[^\r\n"'\[]++"""
        ),
        rf"\1{REDACTED}",
    ),
    # RFC 3986, 3.2.1: `user:password@`, or a token instead of the user. The password may contain an @ that
    # should have been escaped.
    (
        ("@",),
        rf"""(://)(?:([^\s/@:"'<>]{{0,128}}:){_NEW}[^\s/"'<>]+|(?=[a-z_-]{{0,60}}[0-9])[a-z0-9_-]{{16,}}+)@""",
        rf"\1\2{REDACTED}@",
    ),
    # The same without a scheme, if the password looks like one: `root:…@localhost`, `app:…@tcp(db)`.
    (
        ("@",),
        (
            r"""((?<![\w/.:-])[a-z][\w.-]{0,40}:)(?-i:(?=[^\s@]{0,40}[a-z])(?=[^\s@]{0,40}[A-Z])"""
            r"""(?=[^\s@]{0,40}[0-9]))[^\s@/:"'<>]{8,40}+(?=@(?!sha[0-9]))"""
        ),
        rf"\1{REDACTED}",
    ),
    # Any password there, if a host follows; not `mailto:` and `npm:`.
    (
        ("@",),
        (
            r"""((?<![\w.-])(?!(?:mailto|npm|acct|sips?|xmpp|workspace|git|ssh|from|to|b?cc|author|by|e?mail|user"""
            r"""|owner|contact|github|patch|image|catalog|jsr|reply-to|signed-off-by):)[a-z][\w.-]{0,40}:)"""
            rf"""{_NEW}[^\s/:"'<>=,(){{}}]{{4,40}}(?=@(?!sha[0-9]|v?[0-9]|latest|next)[a-z])"""
        ),
        rf"\1{REDACTED}",
    ),
    # `-n user:password`, if it looks like one.
    (
        (" -n ",),
        (
            rf"((?<!\S)-n[ ][\"']?[a-z][\w.@-]{{0,40}}:){_NEW}(?=[^\s:/]{{0,40}}[a-z])"
            r"(?=[^\s:/]{0,40}[0-9!#$%^*])[^\s:/\"'.]{6,}+(?=[\"'\s]|$)"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("chpasswd",),
        (
            r"(chpasswd:[^\n]{0,60}(?:\n[^\n]{0,60}){0,2}?[\"' ][a-z_][\w-]{0,30}:)(?=[^\s\"'])"
            rf"{_NEW}[^\s\"']++"
        ),
        rf"\1{REDACTED}",
    ),
    (("ldappasswd",), _program("ldappasswd", "-[as]"), rf"\1{REDACTED}"),
    # Oracle's tools and addresses: user/password@database.
    (
        ("sqlplus", "sqlldr", "expdp", "impdp", "rman ", "sqlcl", "jdbc:"),
        (
            r"((?:(?:sqlplus|sqlldr|expdp|impdp|rman|sqlcl)[ \t]+(?:-\w+[ \t]+|target[ \t]+)*(?:userid=)?"
            rf"|jdbc:\w+:\w+:)[\"']?[\w.-]+/){_NEW}[^\s@\"'/]++"
        ),
        rf"\1{REDACTED}",
    ),
    # Parameters of addresses: signed ones of the clouds, OAuth's, and `key`.
    (
        (
            "key=",
            "sig=",
            "signature=",
            "code=",
            "auth=",
            "sid=",
            "session=",
            "jwt=",
            "hmac=",
            "ticket=",
            "otp=",
            "pwd=",
            "pass=",
            "credential=",
            "appid=",
        ),
        (
            r"([?&#;](?:[a-z_-]{0,20}(?:key|sig|signature|code|auth|sid|session|jwt|hmac|ticket|otp|pwd|pass|appid|"
            rf"credential))=){_NEW}(?!(?:true|false|[a-z]{{1,8}}|[0-9]{{1,5}})(?:[&\s\"'#]|$))[^\s&\"'#<>\[]++"
        ),
        rf"\1{REDACTED}",
    ),
    # Connection strings of databases and clouds.
    (
        ("pwd=", "pwd =", "pw=", "pw =", "pwd:", 'pwd":', "pwd':", "pwd :", "pw:"),
        rf"""((?<![a-z0-9-])pwd?["']?[ \t]*[=:][ \t]*["']?){_NEW}(?![/~.$]|[a-z]:)[^\s;"'&|]++""",
        rf"\1{REDACTED}",
    ),
    # curl(1): -u user:password; httpie(1), xh(1): -a user:password; smbclient(1): -U user%password.
    (
        (" -u", "--user", "--proxy-user"),
        (
            r"""(?<!\S)(-u[ \t]*|--(?:proxy-)?user[ \t=]+)(["']?[^\s:"']{1,128}:)"""
            rf"""{_NEW}(?![0-9]{{1,6}}(?:\s|$))[^\s"']++"""
        ),
        rf"\1\2{REDACTED}",
    ),
    (("http ", "https ", "xh "), _program("https?|xh|curlie", "-a"), rf"\1{REDACTED}"),
    (
        (" -u", "--user"),
        rf"((?<!\S)(?:-U[ \t]*|--user[ \t=]+)[\"']?[^\s%$+\"']{{1,60}}%){_NEW}\S++",
        rf"\1{REDACTED}",
    ),
    # sshpass(1): -p password; mysql(1) and mariadb(1): -ppassword, in one word, where -P is the port.
    (("sshpass",), rf"(sshpass[ \t]+-p[ \t]*){_NEW}{_VALUE}", rf"\1{REDACTED}"),
    (
        ("mysql", "mariadb"),
        rf"((?:mysql|mariadb)[a-z-]{{0,20}}[ \t](?:{_ON}[ \t])??(?-i:-p)){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    (("redis-cli", "valkey-cli"), _program("redis-cli|valkey-cli", "-a"), rf"\1{REDACTED}"),
    (("ldap",), _program(r"ldap[a-z]{3,12}", "-w"), rf"\1{REDACTED}"),
    (
        ("mongo", "cqlsh", "twine", "influx", "rabbitmqadmin"),
        _program("mongo[a-z]{0,10}|cqlsh|twine|influx|rabbitmqadmin", "-p"),
        rf"\1{REDACTED}",
    ),
    (
        ("login", "signin", "unlock", "keychain", "authenticate"),
        (
            rf"((?<![\w-])(?:login|signin|[a-z-]{{0,20}}(?:unlock|keychain)[a-z-]{{0,20}}|authenticate)(?![\w-]){_ON}"
            rf"[ \t](?-i:-p)(?!assword|assphrase|ort|ath|aram|rofile)(?:[ \t=]+|(?=\S))){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("sqlcmd", "bcp", "isql", "osql", "mosquitto_", "zip -"),
        _program(r"sqlcmd|bcp|[io]sql|mosquitto_[a-z]+|(?:un)?zip", "-P"),
        rf"\1{REDACTED}",
    ),
    (
        ("7z ", "7za ", "7zz ", "rar a ", "rar x "),
        _program("7z[az]?|(?:un)?rar", "-h?p", joined=True),
        rf"\1{REDACTED}",
    ),
    (("openssl", "gpg"), rf"((?<![\w-])(?:pass|file-pass):){_NEW}[^\s\"']++", rf"\1{REDACTED}"),
    (("openssl",), _program("openssl", "-[kK]|-iv|-hmac"), rf"\1{REDACTED}"),
    (("ssh-keygen",), _program("ssh-keygen", "-[NP]"), rf"\1{REDACTED}"),
    (("snmp",), _program("snmp[a-z]+", "-[AXc]"), rf"\1{REDACTED}"),
    (("useradd", "usermod", "adduser"), _program("useradd|usermod|adduser", "-p"), rf"\1{REDACTED}"),
    (
        ("freerdp", "rdesktop"),
        r"((?:freerdp|rdesktop)[^\n|;&]{0,200}?[ \t](?:/p:|-p[ \t]*))\S++",
        rf"\1{REDACTED}",
    ),
    (
        ("doctl", "vercel", "netlify", "codecov"),
        _program("doctl|vercel|netlify|codecov(?:cli)?", "-t|--auth"),
        rf"\1{REDACTED}",
    ),
    # A user and a password, whatever the program; a port has digits only.
    (
        (" -u", "--user"),
        (
            r"((?<!\S)(?:-u|--user|--username)[ \t=]+[^\s|;&]+[ \t]"
            rf"(?:{_ON}[ \t])??-(?:p|pw|w)[ \t=]*){_NEW}(?=[^\s:/|;&]{{0,60}}[0-9!@#$%^*])"
            r"(?=[^\s|;&]{0,60}[a-z])[^\s:/|;&\"'.,=-][^\s:/|;&\"'=]{5,}+(?=[\s&]|$)"
        ),
        rf"\1{REDACTED}",
    ),
    # The same side by side: letters are enough.
    (
        (" -u", "--user"),
        (
            r"((?<!\S)(?:-u|--user|--username)[ \t=]+[^\s|;&]+[ \t]+-pw?[ \t=]+[\"']?)"
            rf"{_NEW}(?=[^\s:/|;&]{{0,60}}[a-z])(?!\S*(?:\.json|\.ya?ml))[^\s:/|;\"'-][^\s:/|;\"']{{5,}}+(?=[\s\"']|$)"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("ab -", "drush"),
        rf"((?<![\w-])(?:ab[ \t]{_ON}-A[ \t]+[^\s:]+:|drush[ \t]+upwd[ \t]+\S+[ \t]+)){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    (("signtool",), rf"(signtool[ \t]{_ON}[ \t]/p[ \t]+){_NEW}{_VALUE}", rf"\1{REDACTED}"),
    # skopeo(1), oras(1): --creds user:password; curl(1): --cert file:password.
    (
        ("creds", "--cert"),
        rf"((?<!\S)--(?:[a-z-]{{0,20}}creds|(?:proxy-)?cert)[ \t=]+[^\s:]+:)(?!//){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # composer(1), bundle-config(1).
    (
        ("http-basic.", "bundle config"),
        (
            r"((?:http-basic\.\S+[ \t]+\S+[ \t]+|bundle[ \t]+config[ \t]+(?:set[ \t]+)?(?:--\w+[ \t]+)?"
            rf"[\w.-]+\.[\w.-]+[ \t]+[^\s:]+:)){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    (("-generic-password", "-internet-password"), _program("security", "-w"), rf"\1{REDACTED}"),
    (
        ("put-parameter", "secret"),
        _program(
            "put-parameter|secrets?|keyvault", "--(?:value|body|data|plaintext|secret-string|secret-value)"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("config set --secret",),
        rf"(config[ \t]+set[ \t]+--secret[ \t]+(?!-)\S+[ \t]+)(?!-){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    (
        ("jwt.",),
        rf"""(jwt\.(?:sign|verify|encode|decode)\([^,\n]{{1,100}},[ \t]*["']){_NEW}[^"'\n]++""",
        rf"\1{REDACTED}",
    ),
    (
        ("htpasswd",),
        (
            r"(htpasswd[ \t]+(?-i:-\w*b\w*)(?:[ \t]+-\w+)*(?:(?<=n)|(?<=nb)|(?<=nB)|[ \t]+\S+)"
            rf"[ \t]+\S+[ \t]+){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    (("lftp",), rf"(lftp[ \t][^\n|;&]{{0,200}}?-u[ \t]*[^\s,]{{1,60}},){_NEW}[^\s\"']++", rf"\1{REDACTED}"),
    (
        ("/user:",),
        rf"(/user:\S+[ \t]+)(?!/){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # `rabbitmqctl add_user me x`, `grafana-cli admin reset-admin-password x`: maybe a name, and the password.
    (
        ("add_user", "add-user", "user create", "user add", "-password", "_password"),
        (
            r"((?<![\w-])(?:add[_-]user|user[ \t]+(?:create|add)"
            r"|(?:change|set|reset|update)[_-][a-z_-]{0,20}password)"
            rf"[ \t]+)(?![-|&;<>=]){_NEW}{_VALUE}(?:[ \t]+(?![-|&;<>]){_NEW}{_VALUE})?"
        ),
        rf"\1{REDACTED}",
    ),
    # Text that a shell prints into a file for a program; text that expect(1) types.
    (("<(echo", "<(printf"), rf"(<\((?:echo|printf)[ \t]+(?:-\w+[ \t]+)*){_NEW}[^)\n]++", rf"\1{REDACTED}"),
    (
        ("passwordeval",),
        rf"(passwordeval[ \t=]+[\"']?(?:echo|printf)[ \t]+){_NEW}[^\"'\n]++",
        rf"\1{REDACTED}",
    ),
    (
        ("expect", "spawn"),
        r"(send[ \t]+(?:--[ \t]+)?\\*\")(?!\[redacted)[^\"\n\\]++(?=\\+r)",
        rf"\1{REDACTED}",
    ),
    # .pgpass: host:port:database:user:password.
    ((":5432:", ":*:"), rf"((?<!\S)[\w.*-]+:(?:[0-9]+|\*):[\w.*-]+:[\w.*-]+:){_NEW}\S++", rf"\1{REDACTED}"),
    # requests: auth=("user", "password").
    (
        ("auth=(", "auth = (", "auth=["),
        rf"""(auth\w*[ \t]*[=:][ \t]*[(\[][ \t]*["'][^"'\n]*["'],[ \t]*["']){_NEW}[^"'\n]++""",
        rf"\1{REDACTED}",
    ),
    # A token instead of the user, and the text after a token.
    (
        (" -u", "--user", REDACTED),
        rf"((?<!\S)(?:-u[ \t]*|--user[ \t=]+)[\"']?){_NEW}(?=[a-z_-]{{0,60}}[0-9])[a-z0-9_-]{{16,}}+(?=:)",
        rf"\1{REDACTED}",
    ),
    ((f"{REDACTED}:",), r"(\[redacted\]:)(?=[a-z]*[0-9])[a-z0-9_-]{8,}+", rf"\1{REDACTED}"),
    # Programs that take a secret as a separate argument.
    (
        (
            "login",
            "unseal",
            "snyk",
            "authtoken",
            "obscure",
            "wpa_passphrase",
            "net user",
            "net use",
            "bw unlock",
            "encrypt_",
        ),
        (
            r"((?<![\w-])(?:(?:vault|cargo|snyk|fly|wandb)[ \t]+(?:login|auth)|bw[ \t]+unlock"
            r"|bw[ \t]+login[ \t]+\S+@\S+|ansible-vault[ \t]+encrypt_string|vault[ \t]+operator[ \t]+unseal"
            r"|ngrok[ \t]+(?:config[ \t]+add-)?authtoken|rclone[ \t]+obscure|wpa_passphrase[ \t]+\S+"
            r"|net[ \t]+user[ \t]+\S+|net[ \t]+use[ \t]+(?:[a-z*]:?[ \t]+)?\\\\\S+)"
            rf"[ \t]+)(?![-/]){_NEW}(?!(?:login|auth|token|signup|logout)(?:\s|$)){_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("alias set", "config host add"),
        rf"((?:alias[ \t]+set|host[ \t]+add)[ \t]+\S+[ \t]+\S+://\S+[ \t]+\S+[ \t]+){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # Text piped into, or handed to, a program that reads a secret; several lines of it too.
    (
        _READERS,
        (
            r"((?<![\w-])(?:echo|printf|yes)(?:[ \t]+-[a-z]+)*[ \t]+(?:[\"']?(?:%s(?:\\n)?)+[\"']?[ \t]+)?+)"
            rf"{_NEW}[^\n|;]{{0,200}}[^\n|;\s)](?=[ \t]*+(?:;[ \t]*+(?:echo|printf)[^\n|;]{{1,100}}+){{0,2}}"
            rf"[ \t;)}}]{{0,4}}\|[ \t]*+(?:sudo[ \t]++(?!-))?+{_SEARCHES}{_READER})"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("<<<",),
        rf"((?:^|(?<=[\n;|&(]))[ \t]*+{_SEARCHES}{_READER}[^|;&\n]{{0,80}}?<<<[ \t]*){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # A here-document of one line.
    (
        ("<<",),
        (
            rf"((?:^|(?<=[\n;|&(]))[ \t]*+{_SEARCHES}{_READER}[^|;&\n>]{{0,80}}?<<-?[ \t]*"
            r"[\"']?(\w+)[\"']?[ \t]*\n)"
            rf"{_NEW}[^\n]++(?=\n[ \t]*\2)"
        ),
        rf"\1{REDACTED}",
    ),
    # `echo -n user:password | base64`, for a header.
    (
        ("base64",),
        (
            rf"((?:echo|printf)(?:[ \t]+-\w+)*[ \t]+[\"']?[\w.@-]{{1,60}}:){_NEW}"
            r"[^\s\"'|]++(?=[\"']?[ \t]*\|[ \t]*base64)"
        ),
        rf"\1{REDACTED}",
    ),
    # Programs that hash a password.
    (
        ("mkpasswd", "openssl passwd", "hash-password"),
        (
            r"((?<![\w-])(?:mkpasswd|openssl[ \t]+passwd|hash-password)"
            rf"(?:[ \t]+-\S+(?:[ \t]+(?:sha-?\d+|yescrypt))?)*[ \t]+)(?![-|&;<>]){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    # Secrets of clusters and hosts: every value is a secret, whatever its name.
    (("--from-literal",), rf"(--from-literal[ \t=]+[\"']?[\w.-]+=){_NEW}{_VALUE}", rf"\1{REDACTED}"),
    (
        ("secret set", "secrets set", "secrets:set", "secret put"),
        rf"(secrets?[ \t:](?:set|put)[ \t](?:{_ON}[ \t])??(?:(?-i:-b|--body)[ \t=]+|[\w-]+=)){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    (
        (
            "secret set",
            "secrets set",
            "secrets:set",
            "secret put",
            "secret add",
            "secrets add",
            "secret create",
        ),
        (
            r"((?<![\w-])secrets?[ \t:](?:set|put|add|create)[ \t]+[\w./:-]+[ \t]+)"
            rf"(?![-|<>./~&;@])(?![\w-]+\.[a-z]{{2,5}}(?:\s|$)){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    # The argument of a sub-command of that name, if it looks like a key.
    (
        (
            "login ",
            "signin ",
            "auth ",
            "authenticate ",
            "authtoken ",
            "token ",
            "unlock ",
            "unseal ",
            "activate ",
            "bootstrap ",
            "register ",
            "license ",
            "apikey ",
            "api-key ",
            "set-key ",
        ),
        (
            r"((?<![\w./-])(?:login|signin|auth|authenticate|(?:[a-z-]{1,20}-)?(?:auth)?token|unlock|unseal"
            r"|activate|bootstrap|register|license|api-?key|set-key)(?:[ \t]+-[\w-]+(?:=\S+)?)*+"
            r"(?:[ \t]+[a-z@.-]{1,40})??[ \t]+[\"']?)"
            r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{20,}+"
            r"|(?-i:(?=[^\s/]{0,40}[A-Z])(?=[^\s/]{0,40}[a-z])(?=[^\s/]{0,40}[0-9]))[\w!@#$%^*+=-]{8,}+)"
            r"(?=[\s\"';]|$)"
        ),
        rf"\1{REDACTED}",
    ),
    # PowerShell.
    (
        ("securestring",),
        rf"(securestring[ \t]+(?:-(?:string|asplaintext|force)[ \t]+)*)(?![-$(]){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # A user and a password as arguments of a function: `smtp.login("me", "x")`, `HTTPBasicAuth('me', 'x')`.
    (
        (
            "login",
            "signin",
            "sign_in",
            "basicauth",
            "basic_auth",
            "credential",
            "pw_set",
            "authenticat",
            "passwordauth",
        ),
        (
            r"""((?:log_?in|sign_?in|basic_?auth|credentials?|pw_set|authenticate|authentication|passwordauth\w{0,12})"""
            rf"""\([^()\n]{{0,120}}?["'][ \t]*,[ \t]*["']){_NEW}[^"'\s]{{4,}}+(?=["'][ \t]*[,)])"""
        ),
        rf"\1{REDACTED}",
    ),
    # An id and a key that looks like a hash, as arguments of a client.
    (
        ("client(", "search(", "connect(", "session(", "init("),
        (
            r"""((?:client|search|connect|session|init)\([^()\n]{0,80}?["'][ \t]*,[ \t]*["'])"""
            r"""[0-9a-f]{20,}+(?=["'][ \t]*[,)])"""
        ),
        rf"\1{REDACTED}",
    ),
    # reg(1).
    (
        ("reg add",),
        rf"(reg[ \t]+add{_ON}[ \t]/v[ \t]+\S{{0,40}}?{_WORD}\S{{0,20}}[ \t]{_ON}/d[ \t]+){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # ACL SETUSER of Redis: `>password`.
    (("setuser",), rf"(setuser[ \t]+\S+[ \t](?:{_ON}[ \t])??[>#]){_NEW}\S++", rf"\1{REDACTED}"),
    # Numbers that are typed once, and those of cards.
    (
        ("-pin", "-puk", "-otp", "-totp", "-mfa", "-2fa", "-twofactor", "-two-factor"),
        (
            r"((?<!\S)--?(?:[\w-]{0,20}-)?(?:pin|puk|otp|totp|mfa|2fa|two-?factor)(?:-code)?[ \t=]+)"
            rf"(?![-|&;<>]){_NEW}{_VALUE}"
        ),
        rf"\1{REDACTED}",
    ),
    # BIP 39: twelve words or more.
    (
        ("mnemonic", "seed phrase", "seed_phrase", "seedphrase", "recovery phrase", "recovery_phrase"),
        (
            r"((?:mnemonic|seed[ _]?phrase|recovery[ _]phrase)(?: is)?[\"']?[ \t]*[:= ][ \t]*[\"']?)"
            r"(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}(?![a-z])"
        ),
        rf"\1{REDACTED}",
    ),
    (("--cookie",), rf"((?<!\S)--cookie[ \t=]+){_NEW}(?=\S+=){_VALUE}", rf"\1{REDACTED}"),
    (
        ("basic ",),
        (
            r"((?<![\w-])basic[ \t]+)(?-i:(?=[a-z0-9+/]{0,80}[A-Z])(?=[A-Z0-9+/]{0,80}[a-z])"
            r"(?=[A-Za-z+/]{0,80}[0-9=]))[a-z0-9+/]{12,}+={0,2}"
        ),
        rf"\1{REDACTED}",
    ),
    # SQL: CREATE USER … IDENTIFIED BY '…', ALTER ROLE … PASSWORD '…'.
    (
        ("identified", "password"),
        (
            r"((?:identified(?:[ \t]+with[ \t]+\S+)?[ \t]+by|password)(?:[ \t]+|[ \t]*\()\\?)"
            r"(?:'[^']*+'?|\"[^\"]*+\"?)"
        ),
        rf"\1{REDACTED}",
    ),
    (
        ("identified",),
        rf"(identified(?:[ \t]+with[ \t]+\S+)?[ \t]+by[ \t]+(?:values?[ \t]+)?){_NEW}[^\s;\"']{{4,}}+",
        rf"\1{REDACTED}",
    ),
    # In a sentence: a word with a digit, so that "password is wrong" or "is missing" stays readable.
    (
        ("password is", "passwd is", "passphrase is", "token is", "key is", "secret is"),
        rf"((?:pass(?:word|wd|phrase)|token|key|secret) is:?[ \t]+)(?=\S{{0,64}}[0-9]){_NEW}{_VALUE}",
        rf"\1{REDACTED}",
    ),
    # NuGet and .NET: <add key="Password" value="…" />.
    (
        ("value=",),
        rf"""(key=["'][^"'\n]{{0,60}}{_WORD}["'][ \t]+value=["']){_NEW}[^"'\n]++""",
        rf"\1{REDACTED}",
    ),
    # A name and its value in two fields: variables of containers and of builds, parameters of templates.
    (
        WORDS,
        (
            rf"""((?:name|key|id)["']?[ \t]*[:=][ \t]*["']?[\w.-]{{0,60}}?{_WORD}{_SUFFIX}[\s,;]{{1,40}}"""
            rf"""["']?[\w:-]{{0,12}}value["']?[ \t]*[:=][ \t]*){_NEW}{_VALUE}"""
        ),
        rf"\1{REDACTED}",
    ),
    # A name and its value as arguments: `setProperty("db.password", "x")`, `["--password", "x"]`.
    (
        WORDS,
        (
            r"""((?:(?:set|put|define|add|append|header|prop|env|default|insert|store|write|update|config)\w{0,30}"""
            rf"""[ \t]*\([ \t]*["'][^"'\n]{{0,60}}?|["']--?[\w-]{{0,40}}?){_WORD}{_SUFFIX}[ \t]*,[ \t]*)"""
            rf"""{_NEW}(?:[bfnru]?+"[^"\n]*+"|[bfnru]?+'[^'\n]*+')"""
        ),
        rf"\1{REDACTED}",
    ),
)

# A secret's name and value: an assignment in a shell, an address, a settings file or a program, maybe with a
# type between them; or the word after the name, if it is an option or set by a command.
NAMED_VALUE = rf"({_WORD}{_SUFFIX})({_GETS}|[ \t]+(?![-=|&;<>])){_NEW}({_VALUE})"

# Other forms of secrets: needles and pattern, in this case of letters only.
FORMATS: tuple[tuple[tuple[str, ...], str], ...] = (
    # Addresses that are secrets as a whole.
    (("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}"),
    (("/api/webhooks/",), r"(?<=/api/webhooks/)[0-9]{10,}/[A-Za-z0-9_-]{20,}"),
    (("://hook", "://webhook"), r"(?<=://)(?:web)?hooks?\.[a-z0-9.-]+/[A-Za-z0-9/_-]{10,}"),
    (("infura.io/v3/", ".alchemy.com/v2/"), r"(?<=/v[23]/)[A-Za-z0-9_-]{20,}"),
    # docs.launchdarkly.com/sdk/concepts/client-side-server-side
    (("sdk-", "mob-"), rf"{_START}(?:sdk|mob)-[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}"),
    ((".office.com/webhook",), r"(?<=\.office\.com/)webhook\S{20,}"),
    # core.telegram.org/bots/api#authorizing-your-bot
    ((":A",), r"(?<![0-9])[0-9]{6,16}:A[A-Za-z0-9_-]{30,}"),
    # developers.asana.com/docs/personal-access-token
    (("1/1", "2/1"), r"(?<![0-9])[12]/1[0-9]{11,}(?:/[0-9]{12,})?:[0-9a-f]{32}"),
    # Twilio, Mailgun, Octopus Deploy.
    (("SK",), r"(?<![A-Za-z0-9])SK[0-9a-f]{32}"),
    (("key-",), rf"{_START}key-[0-9a-f]{{32}}"),
    (("API-",), rf"{_START}API-[A-Z0-9]{{26}}"),
    # HCP Terraform, Azure's client secrets, MaxMind, Airtable, Harness.
    ((".atlasv1.",), r"[A-Za-z0-9]{10,}\.atlasv1\.[A-Za-z0-9_=-]{20,}"),
    (("Q~",), r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{20,}"),
    (("_mmk",), r"[A-Za-z0-9]{6}_[A-Za-z0-9]{20,}_mmk"),
    (("pat.", "sat."), rf"{_START}[ps]at\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9]{{16,}}\.[A-Za-z0-9]{{16,}}"),
    # RFC 7519, 3.1: header and claims are JSON objects, and base64 of `{"` is `eyJ`.
    (("eyJ",), rf"{_START}eyJ[A-Za-z0-9_-]{{8,}}+\.eyJ[A-Za-z0-9_-]{{8,}}+(?:\.[A-Za-z0-9_-]*+)?"),
)
