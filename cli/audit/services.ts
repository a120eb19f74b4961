/** Lists the audit logs of the services. */
import { auditRpcs } from '#libs/infrastructure/contract';
import { serviceNames } from '../services.ts';

export interface AuditLog {
  readonly service: string;
  readonly rpcs: ReturnType<typeof auditRpcs>;
}

/** Returns all audit logs, or only the log of the service `only`. */
export function listLogs(only: string | undefined): AuditLog[] {
  return serviceNames
    .filter((service) => only === undefined || service === only)
    .map((service) => ({ service, rpcs: auditRpcs(service) }));
}
