/** Lists the audit logs of the services. */
import { auditRpcs } from '#libs/contract';
import { contracts } from '../jobs.ts';

/** Services that have an audit log. */
export const auditServices: readonly string[] = contracts
  .filter(({ rpcs }) => 'readAudit' in rpcs)
  .map(({ service }) => service)
  .toSorted();

export interface AuditLog {
  readonly service: string;
  readonly rpcs: ReturnType<typeof auditRpcs>;
}

/** Returns all audit logs, or only the log of the service `only`. */
export function listLogs(only: string | undefined): AuditLog[] {
  return auditServices
    .filter((service) => only === undefined || service === only)
    .map((service) => ({ service, rpcs: auditRpcs(service) }));
}
