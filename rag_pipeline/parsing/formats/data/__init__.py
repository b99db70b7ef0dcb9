"""Files of data: tables, trees and notebooks."""
