/** Finds import cycles, including type-only imports: such files can only be understood together. */
import { listImports, resolveImport } from './imports.ts';
import type { SourceFile } from './sources.ts';

/** Returns the files of each cycle, joined by arrows. */
export function findCircles(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map(({ path, text }) => [path, listImports(text).flatMap(({ specifier }) => resolveImport(path, specifier))]),
  );
  const state = {
    next: 0,
    stack: [] as string[],
    circles: [] as string[][],
    order: new Map<string, number>(),
    low: new Map<string, number>(),
  };
  for (const path of graph.keys()) if (!state.order.has(path)) visit(path, graph, state);
  return state.circles.map((circle) => circle.toReversed().join(' → ')).toSorted();
}

interface Walk {
  next: number;
  /** Files not yet assigned to a cycle. */
  readonly stack: string[];
  readonly circles: string[][];
  readonly order: Map<string, number>;
  /** The lowest index reachable from each file. */
  readonly low: Map<string, number>;
}

/** Finds the import cycles with Tarjan's algorithm for strongly connected components. */
function visit(path: string, graph: ReadonlyMap<string, readonly string[]>, walk: Walk): void {
  const order = walk.next++;
  walk.order.set(path, order);
  walk.low.set(path, order);
  walk.stack.push(path);
  const lower = (value: number | undefined): void =>
    void walk.low.set(path, Math.min(walk.low.get(path) ?? order, value ?? order));
  for (const target of graph.get(path) ?? []) {
    if (!graph.has(target)) continue;
    if (!walk.order.has(target)) {
      visit(target, graph, walk);
      lower(walk.low.get(target));
    } else if (walk.stack.includes(target)) lower(walk.order.get(target));
  }
  if (walk.low.get(path) !== order) return;
  const circle = walk.stack.splice(walk.stack.indexOf(path));
  if (circle.length > 1) walk.circles.push(circle);
}
