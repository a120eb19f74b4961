/**
 * Replaces `@jest/globals` for test files and their helpers: each name refers to the current test file, so that a
 * helper loaded by an earlier file works in the next one.
 */
import type * as Globals from '@jest/globals';

type Name = keyof typeof Globals;

const present = new Map<string, object>();

/** Sets the globals of a test file. Call it before the file is loaded. */
export function setGlobals(globals: Readonly<Record<string, object>>): void {
  for (const [name, value] of Object.entries(globals)) present.set(name, value);
}

function forward<One extends Name>(name: One): (typeof Globals)[One] {
  const find = (): object => {
    const value = present.get(name);
    if (value !== undefined) return value;
    throw new Error(`${name} of @jest/globals is for test files`);
  };
  const target = (): undefined => undefined;
  return new Proxy(target as unknown as (typeof Globals)[One], {
    apply: (_, self, args: unknown[]): unknown => Reflect.apply(find() as () => unknown, self, args),
    get: (_, key): unknown => Reflect.get(find(), key),
  });
}

export const jest = forward('jest');
export const expect = forward('expect');
export const describe = forward('describe');
export const fdescribe = forward('fdescribe');
export const xdescribe = forward('xdescribe');
export const it = forward('it');
export const fit = forward('fit');
export const xit = forward('xit');
export const test = forward('test');
export const xtest = forward('xtest');
export const beforeAll = forward('beforeAll');
export const beforeEach = forward('beforeEach');
export const afterAll = forward('afterAll');
export const afterEach = forward('afterEach');
