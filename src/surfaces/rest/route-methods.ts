/** The methods of each path. They tell a wrong method from a wrong path. */
export class RouteMethods {
  readonly #routes: { readonly pattern: RegExp; readonly method: string }[] = [];

  /** `template`: a path with parameters, such as `/runs/:id`. */
  add(methods: string | string[], template: string): void {
    const parts = template.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/\W/g, '\\$&')));
    const pattern = new RegExp(`^${parts.join('/')}$`);
    for (const method of [methods].flat()) this.#routes.push({ pattern, method });
  }

  /** The methods of a path, sorted. Empty if no route matches. */
  at(url: string): string[] {
    const path = url.split('?')[0] ?? '';
    return [...new Set(this.#routes.flatMap(({ pattern, method }) => (pattern.test(path) ? [method] : [])))].sort();
  }
}
