/**
 * Runs test files in Node's own realm (docs/performance-notes.md#shared-modules-in-tests) and restores their changes to
 * the process afterwards. The framework ends tests that time out, the watchdog ends tests that block the process.
 */
import { flushCompileCache } from 'node:module';
import { relative } from 'node:path';
import type { EnvironmentContext, JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { watch } from './watchdog.ts';

/**
 * Grace period after a test's timeout until the process is ended; also applies to work outside of tests, such as
 * loading a file.
 */
const graceMs = 120_000;

/** The events of jest that are used here. */
interface TestEvent {
  readonly name: string;
  readonly test?: { readonly name: string; readonly timeout?: number | null | undefined };
  readonly hook?: { readonly type: string; readonly timeout?: number | null | undefined };
}

/** The key under which jest stores its event handlers. */
const frameworkListeners = Symbol.for('EVENT_HANDLERS');

// Exits a finished worker immediately. Freeing its heap takes more than half a second on a busy machine; jest then
// kills the worker and reports that it failed to exit.
// jest kills it and reports that it failed to exit.
if (process.send !== undefined) process.once('beforeExit', () => process.exit());

export default class NativeEnvironment implements JestEnvironment {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #console = globalThis.console;
  readonly #variables = { ...process.env };
  readonly #folder = process.cwd();
  readonly #exit = process.exit;
  readonly #getBuiltinModule = process.getBuiltinModule;
  readonly #file: string;
  readonly #symbols = new Set(Object.getOwnPropertySymbols(globalThis));

  constructor({ projectConfig }: JestEnvironmentConfig, { testPath }: EnvironmentContext) {
    this.#file = relative(projectConfig.rootDir, testPath);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  async setup(): Promise<void> {
    watch({ what: this.#file, limitMs: graceMs });
  }

  handleTestEvent({ name, test, hook }: TestEvent, { testTimeout }: { testTimeout: number }): void {
    if (!/^(test_fn|hook)_|^run_finish$/.test(name)) return;
    const isRunning = name.endsWith('_start');
    const title = isRunning ? `: ${test?.name ?? hook?.type}` : '';
    const timeoutMs = isRunning ? ((hook ?? test)?.timeout ?? testTimeout) : 0;
    watch({ what: `${this.#file}${title}`, limitMs: timeoutMs + graceMs });
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    Object.assign(process, { exit: this.#exit, getBuiltinModule: this.#getBuiltinModule });
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    for (const [name, value] of Object.entries(this.#variables))
      if (process.env[name] !== value) process.env[name] = value;
    if (process.cwd() !== this.#folder) process.chdir(this.#folder);
    this.#removeFramework();
    watch(undefined);
    flushCompileCache(); // jest kills a worker that takes half a second to end
  }

  /**
   * Removes jest's state from the global object, because its test tree references everything that the tests created.
   */
  #removeFramework(): void {
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      const isState = symbol.description === 'JEST_STATE_SYMBOL' && !this.#symbols.has(symbol);
      if (isState || symbol === frameworkListeners) Reflect.deleteProperty(globalThis, symbol);
    }
  }
}
