/** Test files run in the realm of Node itself (docs/adr/test-files-share-modules.md): what they change of the process is put back after each. */
import { flushCompileCache } from 'node:module';
import type { EnvironmentContext, JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Where the framework keeps who listens to the events of its tests. */
const frameworkListeners = Symbol.for('EVENT_HANDLERS');

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
  readonly #symbols = new Set(Object.getOwnPropertySymbols(globalThis));

  constructor({ projectConfig }: JestEnvironmentConfig, _context: EnvironmentContext) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    Object.assign(process, { exit: this.#exit, getBuiltinModule: this.#getBuiltinModule });
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    for (const [name, value] of Object.entries(this.#variables)) if (process.env[name] !== value) process.env[name] = value;
    if (process.cwd() !== this.#folder) process.chdir(this.#folder);
    this.#removeFramework();
    flushCompileCache(); // jest kills a worker that takes half a second to end
  }

  /** The tree of a file's tests holds everything that they have made. */
  #removeFramework(): void {
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      const isState = symbol.description === 'JEST_STATE_SYMBOL' && !this.#symbols.has(symbol);
      if (isState || symbol === frameworkListeners) Reflect.deleteProperty(globalThis, symbol);
    }
  }
}
