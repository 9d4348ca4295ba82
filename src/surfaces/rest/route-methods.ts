/** By which methods each address can be used: what tells a wrong method from a wrong address. */
export class RouteMethods {
  readonly #routes: { readonly pattern: RegExp; readonly method: string }[] = [];

  /** `template`: an address with parameters, such as `/runs/:id`. */
  add(methods: string | string[], template: string): void {
    const parts = template.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/\W/g, '\\$&')));
    const pattern = new RegExp(`^${parts.join('/')}$`);
    for (const method of [methods].flat()) this.#routes.push({ pattern, method });
  }

  /** The methods of an address, sorted; none where nothing is there. */
  at(url: string): string[] {
    const path = url.split('?')[0] ?? '';
    return [...new Set(this.#routes.flatMap(({ pattern, method }) => (pattern.test(path) ? [method] : [])))].sort();
  }
}
