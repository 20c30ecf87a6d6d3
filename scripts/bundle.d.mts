export function bundle(dir: string): Promise<void>;
