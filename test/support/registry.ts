/** What a machine may need to reach its npm registry. */
const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NO_PROXY', 'no_proxy'];

/** The variables for an `npm` that asks the registry. Other processes are started without them. */
export function registryEnvironment(): Record<string, string> {
  const proxies = NAMES.flatMap((name) => (process.env[name] ? [[name, process.env[name] ?? '']] : []));
  const certificates = process.env.CODEMODE_TEST_CERTIFICATES;
  return { ...Object.fromEntries(proxies), ...(certificates ? { NODE_EXTRA_CA_CERTS: certificates } : {}) };
}
