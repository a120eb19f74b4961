/** Locks and address comparison for rows of people. */
export {
  emailKeySql,
  idsByEmailSql,
  keepPeople,
  linkedinAddressSql,
  lockRowsOfPeople,
  lockWorkspace,
  personDigestSql,
  phoneDigitsSql,
  startsOfAddressesSql,
} from './statements.ts';
