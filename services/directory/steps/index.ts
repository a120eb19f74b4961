/** What other features need of steps. */
export { addConfigAudit, lockSteps } from './statements.ts';
