/** Whether `uri` names a PostgreSQL database. */
export const isPostgresUri = (uri: string): boolean => /^postgres(ql)?:\/\//i.test(uri);
