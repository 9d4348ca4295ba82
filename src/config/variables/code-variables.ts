/**
 * Variables that make a program load or start code of somebody else's choice. Not a protection by itself: any program may have
 * more. They are pointed out to a person who reviews a configuration.
 */
const LOADS_CODE = new RegExp(
  `^(?:${[
    'LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES',
    'PATH|SHELL|ENV|BASH_ENV|BASH_FUNC_.*|PROMPT_COMMAND|PS4|IFS|CDPATH|ZDOTDIR',
    'NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_REPL_EXTERNAL_MODULE',
    'NPM_CONFIG_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*|TSX_.*|TS_NODE_.*',
    'PYTHON.*|PIP_.*|UV_.*|VIRTUAL_ENV|CONDA_.*',
    'PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|PHPRC|PHP_INI_SCAN_DIR|LUA_.*',
    'JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS',
    'DOTNET_STARTUP_HOOKS|COR_.*|CORECLR_.*|GOFLAGS|GOPROXY|GONOSUMDB|GOSUMDB|CARGO_.*|RUSTC.*|RUSTFLAGS',
    'GIT_.*|SSH_ASKPASS|SUDO_ASKPASS|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|BROWSER',
    'HOME|XDG_CONFIG_.*|DOCKER_HOST|DOCKER_CONFIG|KUBECONFIG|OPENSSL_CONF|OPENSSL_MODULES|SSL_CERT_.*',
    '(?:HTTP|HTTPS|ALL)_PROXY',
  ].join('|')})$`,
  'i',
);

export function loadsCode(variable: string): boolean {
  return LOADS_CODE.test(variable);
}
