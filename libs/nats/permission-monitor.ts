/**
 * What the broker lets the user of a connection do. A refusal reaches the client as a remark beside the traffic: here it becomes a reason for which
 * the process is not ready, a metric, and a line in the log that says what to do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type NatsConnection, type PermissionViolationError } from '@nats-io/transport-node';
import type { Logger } from '#libs/logger';
import { describeMissing, findMissing, type GrantedPermissions, type Permissions, userInfoSubject, withPrefix } from './permissions.ts';
import { Subscriptions } from './subscriptions.ts';

export type PermissionOperation = 'publish' | 'subscribe';
export const permissionOperations: readonly PermissionOperation[] = ['publish', 'subscribe'];

export interface AccessOptions {
  readonly connection: NatsConnection;
  /** Name of the user in messages. */
  readonly user: string;
  /** Of every subject, without its dot. */
  readonly prefix: string;
  readonly logger: Logger;
  readonly onViolation: (operation: PermissionOperation) => void;
}

const pollMs = 2_000;
const askTimeoutMs = 5_000;
const nothing: Permissions = { publish: [], subscribe: [] };

export class PermissionMonitor {
  readonly subscriptions: Subscriptions;
  readonly #options: AccessOptions;
  #needed: Permissions | undefined;
  #missing = nothing;
  #isChecking = false;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.subscriptions = new Subscriptions(options.connection, options.logger);
  }

  /** What the user lacks, as a sentence for operators; undefined when it may do all that is known to be needed. */
  get problem(): string | undefined {
    const subscribe = [...new Set([...this.#missing.subscribe, ...this.subscriptions.refused])];
    return describeMissing(this.#options.user, { publish: this.#missing.publish, subscribe });
  }

  onViolation(error: PermissionViolationError): void {
    const { logger, user, onViolation } = this.#options;
    const operation = operationOf(error);
    onViolation(operation);
    if (operation === 'subscribe') this.subscriptions.onViolation(error);
    logger.error(describeMissing(user, { ...nothing, [operation]: [error.subject] }));
    // A publication may have gone where a caller wanted the reply: whether the user lacks something is what the broker says.
    if (operation === 'publish' && error.subject !== userInfoSubject) this.recheck();
  }

  /**
   * Resolves when the user may do all of `needed`, however long that takes; logs what is missing. Resolves at once where the broker does not say
   * what its user may do.
   */
  async waitFor(needed: Permissions): Promise<void> {
    this.#needed = needed;
    let said: string | undefined;
    while (!this.#options.connection.isClosed()) {
      if (await this.#check(needed)) return;
      const { problem } = this;
      if (problem !== undefined && problem !== said) this.#options.logger.error(`waiting for permissions: ${problem}`);
      said = problem;
      await sleep(pollMs);
    }
  }

  /** What of `needed` is missing, as a sentence; undefined when nothing is. One attempt. @throws Error when the broker does not answer */
  async find(needed: Permissions): Promise<string | undefined> {
    try {
      await this.#update(needed);
    } catch (error) {
      const violation = violationOf(error);
      if (violation === undefined) throw error;
      return describeMissing(this.#options.user, { ...nothing, [operationOf(violation)]: [violation.subject] });
    }
    return this.problem;
  }

  /** Asks again what is missing, until nothing is; after a reconnection and a refusal. */
  recheck(): void {
    if (this.#needed === undefined || this.#isChecking) return;
    this.#isChecking = true;
    void this.waitFor(this.#needed).finally(() => (this.#isChecking = false));
  }

  /** Whether nothing is missing. Never rejects. */
  async #check(needed: Permissions): Promise<boolean> {
    try {
      await this.#update(needed);
      return this.problem === undefined;
    } catch (error) {
      if (violationOf(error)?.operation === 'publish') {
        this.#options.logger.warn('permissions on NATS are not checked: files/nats.conf of this release lets its users ask for them');
        return true;
      }
      return error instanceof errors.RequestError && error.isNoResponders();
    }
  }

  async #update(needed: Permissions): Promise<void> {
    const { connection, prefix } = this.#options;
    const answer = await connection.request(userInfoSubject, '', { timeout: askTimeoutMs });
    const { data } = answer.json<{ data?: { permissions?: GrantedPermissions } }>();
    this.#missing = findMissing(withPrefix(needed, prefix), data?.permissions ?? {});
  }
}

const operationOf = ({ operation }: PermissionViolationError): PermissionOperation => (operation === 'publish' ? 'publish' : 'subscribe');

/** Why the user cannot even ask: it may not publish the question, or not subscribe to the answer. */
function violationOf(error: unknown): PermissionViolationError | undefined {
  const cause = error instanceof errors.RequestError ? error.cause : error;
  return cause instanceof errors.PermissionViolationError ? cause : undefined;
}
