/** Locks and address comparison for rows of people. */
export {
  emailKeySql,
  idsByEmailSql,
  lockPeopleForShare,
  linkedinAddressSql,
  lockRowsOfPeople,
  lockWorkspace,
  personDigestSql,
  phoneDigitsSql,
  startsOfAddressesSql,
} from './statements.ts';
