/** Tickets for the internal port. */
export { dropExpiredTickets } from './statements.ts';
