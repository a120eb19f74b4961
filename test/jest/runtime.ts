/**
 * Loads test files like Node loads any program: once per process, from its compile cache
 * (docs/performance-notes.md#shared-modules-in-tests).
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import runtime from 'jest-runtime';
import { setGlobals } from './globals.ts';

/** The types describe the CommonJS form; the import is the class itself. */
const Runtime = runtime as unknown as typeof runtime.default;
const require = createRequire(import.meta.url);
const globalsUrl = new URL('globals.ts', import.meta.url).href;
/** How often each file was loaded in this process. In watch mode a file runs more than once. */
const loads = new Map<string, number>();

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: globalsUrl, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});

export default class NativeRuntime extends Runtime {
  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override unstable_importModule(path: string): Promise<void> {
    setGlobals(super.requireModuleOrMock(path, '@jest/globals'));
    const count = loads.get(path) ?? 0;
    loads.set(path, count + 1);
    return import(`${pathToFileURL(path).href}${count === 0 ? '' : `?load=${count}`}`) as Promise<void>;
  }

  /** Loads jest's modules anew for each test file, because they store the state of one file. */
  override requireInternalModule(from: string, to?: string): any {
    const path = require.resolve(to ?? from);
    delete require.cache[path];
    return require(path);
  }

  override requireModule(from: string, to?: string): any {
    return require(to ?? from);
  }
}
