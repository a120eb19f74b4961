/**
 * Permissions of the NATS user of a connection. The broker reports a violation separately from the operation. A
 * violation makes the process unready, counts in a metric, and is logged with its remedy.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type NatsConnection, type PermissionViolationError } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';
import {
  describeMissing,
  findMissing,
  type GrantedPermissions,
  type Permissions,
  userInfoSubject,
  withPrefix,
} from './permissions.ts';
import { Subscriptions } from './subscriptions.ts';

export type PermissionOperation = 'publish' | 'subscribe';
export const permissionOperations: readonly PermissionOperation[] = ['publish', 'subscribe'];

export interface AccessOptions {
  readonly connection: NatsConnection;
  /** User name for messages. */
  readonly user: string;
  /** Subject prefix without the trailing dot. */
  readonly prefix: string;
  readonly logger: Logger;
  readonly onViolation: (operation: PermissionOperation) => void;
}

const pollMs = 2_000;
const requestTimeoutMs = 5_000;
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

  /** Returns the missing permissions as a sentence for operators; undefined when nothing is missing. */
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
    // A denied publication may only concern the reply subject of a caller, so the broker is asked which permissions the
    // user lacks.
    if (operation === 'publish' && error.subject !== userInfoSubject) this.recheck();
  }

  /**
   * Resolves when the user has all permissions of `needed`, without a time limit; logs what is missing. Resolves
   * immediately where the broker does not report permissions.
   */
  async waitFor(needed: Permissions): Promise<void> {
    this.#needed = needed;
    let reported: string | undefined;
    while (!this.#options.connection.isClosed()) {
      if (await this.#check(needed)) return;
      const { problem } = this;
      if (problem !== undefined && problem !== reported)
        this.#options.logger.error(`waiting for permissions: ${problem}`);
      reported = problem;
      await sleep(pollMs);
    }
  }

  /**
   * Checks the permissions once. Returns the missing ones as a sentence, undefined when nothing is missing. @throws
   * Error when the broker does not respond
   */
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

  /** Repeats the check until nothing is missing. Called after a reconnection or a violation. */
  recheck(): void {
    if (this.#needed === undefined || this.#isChecking) return;
    this.#isChecking = true;
    void this.waitFor(this.#needed).finally(() => (this.#isChecking = false));
  }

  /** Checks the permissions. Returns true when nothing is missing. Never rejects. */
  async #check(needed: Permissions): Promise<boolean> {
    try {
      await this.#update(needed);
      return this.problem === undefined;
    } catch (error) {
      if (violationOf(error)?.operation === 'publish') {
        this.#options.logger.warn(
          'permissions on NATS are not checked: files/nats.conf of this release lets its users ask for them',
        );
        return true;
      }
      return error instanceof errors.RequestError && error.isNoResponders();
    }
  }

  async #update(needed: Permissions): Promise<void> {
    const { connection, prefix } = this.#options;
    const answer = await connection.request(userInfoSubject, '', { timeout: requestTimeoutMs });
    const { data } = answer.json<{ data?: { permissions?: GrantedPermissions } }>();
    this.#missing = findMissing(withPrefix(needed, prefix), data?.permissions ?? {});
  }
}

const operationOf = ({ operation }: PermissionViolationError): PermissionOperation =>
  operation === 'publish' ? 'publish' : 'subscribe';

/**
 * Returns the violation that prevents the check itself: the user may not publish the request or may not subscribe to
 * the reply.
 */
function violationOf(error: unknown): PermissionViolationError | undefined {
  const cause = error instanceof errors.RequestError ? error.cause : error;
  return cause instanceof errors.PermissionViolationError ? cause : undefined;
}
