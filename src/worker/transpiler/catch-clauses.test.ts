import { describe, expect, test } from 'vitest';
import { withCatchesWatched } from './catch-clauses.js';

const watched = (source: string) => withCatchesWatched(source, 'W');

describe('a module whose catch clauses are watched', () => {
  test('has a call at the beginning of each clause, nested ones included, and keeps its lines', () => {
    const source = 'try { a() } catch (e) {\n  try { b() } catch (f) { c(f) }\n} finally { d() }';
    expect(watched(source)).toBe(
      'try { a() } catch (e) {W(e);\n  try { b() } catch (f) {W(f); c(f) }\n} finally { d() }',
    );
  });

  test('has none where nothing is caught by name, or where the word is no clause', () => {
    for (const source of ['try { a() } catch { b() }', 'p.catch((e) => e); "catch (e) {"; /catch (e) {/;'])
      expect(watched(source)).toBe(source);
  });

  test('has them inside functions, classes, templates and patterns', () => {
    const source = 'class A { x = () => { try {} catch (e) {} } } `${(() => { try {} catch (e) {} })()}`; await 1;';
    expect(watched(source)?.match(/\{W\(e\);\}/g)).toHaveLength(2);
  });

  test('cannot be made where a clause takes apart what it catches', () => {
    expect(watched('try { a() } catch ({ message }) { b(message) }')).toBeUndefined();
  });
});
