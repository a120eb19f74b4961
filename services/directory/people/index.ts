/** What other features need of people. */
export { createServicePerson } from './service-person.ts';
export { getPerson } from './statements/read.ts';
