/** Where the value of a setting came from. */
export interface SettingOrigin {
  kind: "flag" | "env" | "file" | "default";
  /** The flag, the variable, or file and line. */
  detail?: string;
}
