import { createRequire } from 'node:module';

/**
 * The native part of `oxc-transform`, loaded from the path that the host gave. The package's own loader searches the file system,
 * which a jail does not have.
 */
export interface TransformOptions {
  readonly lang: 'js' | 'ts';
  readonly sourceType: 'module' | 'script' | 'commonjs';
  readonly sourcemap: boolean;
  readonly typescript: { readonly onlyRemoveTypeImports: boolean };
}

export interface TransformError {
  readonly severity: string;
  readonly message: string;
  readonly labels: readonly { readonly start: number }[];
  readonly helpMessage: string | null;
  readonly codeframe: string | null;
}

export interface TransformResult {
  readonly code: string;
  readonly map?: { readonly mappings: string } | null;
  readonly errors: readonly TransformError[];
}

interface Binding {
  transformSync(fileName: string, source: string, options: TransformOptions): TransformResult;
}

const binding = createRequire(import.meta.url)(process.argv[2] ?? './transform.node') as Binding;

export const transformSync = binding.transformSync;
