export function buildPages(): Promise<void>;
