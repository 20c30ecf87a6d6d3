/** The Studio as a page of one file, which shows the thread that it carries. */
import "./style/index.css";
// In this order: the router reads the address that the first one makes.
import "./shared-place.js";
import "./main.js";
