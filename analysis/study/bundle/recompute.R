# Recompute what this study prints, in base R, from its tables alone:
#
#     Rscript recompute.R
#
# tallies.csv says how many reports count for each symbol, scores.csv what a count adds to each
# share and mean, and channels.csv how likely reports are. Every share, mean and standard error that
# follows from them is computed again and compared with estimates.csv, and so are these intervals:
# Clopper and Pearson's, the profile likelihood's, Student's and Fieller's. The script stops at the
# first row that differs, and names it.

source("study.R")

read <- function(file) {
  read.csv(file, colClasses = "character", na.strings = "", check.names = FALSE,
           encoding = "UTF-8")
}
numbers <- function(table, columns) {
  table[columns] <- lapply(table[columns], as.numeric)
  table
}

stated <- numbers(read("estimates.csv"),
                  c("estimate", "std_error", "conf_low", "conf_high", "conf_level"))
tallies <- numbers(read("tallies.csv"), c("count", "reports"))
channels <- numbers(read("channels.csv"),
                    c("p", "q", "low", "width", "least", "most"))
scores <- numbers(read("scores.csv"), c("score", "present"))
cell <- function(table) paste(table$question, table$cohort, table$symbol)
scores$count <- tallies$count[match(cell(scores), cell(tallies))]
if (anyNA(scores$count)) stop("scores.csv: a cell that tallies.csv does not have")

of_share <- function(row, channel, cells) {
  x <- round(sum(cells$score * cells$count), 6)
  m <- if (channel$denominator == "present") round(sum(cells$present * cells$count), 6) else {
    all <- tallies[tallies$question == row$question, ]
    round(sum(all$reports * all$count), 6)
  }
  if (m == 0) return(NULL)
  p <- channel$p
  q <- channel$q
  found <- share_of_support(x, m, p, q)
  ends <- switch(row$conf_method,
    "clopper-pearson" = clopper_pearson(x, m, p, q, row$conf_level),
    "profile-likelihood" = profile_likelihood(x, m, p, q, row$conf_level))
  list(estimate = found[1], std_error = found[2], ends = ends)
}

# (10), (11) and (12); (13) where the score has two values.
of_mean <- function(row, channel, cells) {
  all <- tallies[tallies$question == row$question, ]
  n <- round(sum(all$reports * all$count), 6)
  if (n < 2) return(NULL)
  a <- sum(cells$score * cells$count) / n
  b <- sum(cells$present * cells$count) / n
  if (b <= 0) return(NULL)
  value <- a / b
  result <- list(estimate = channel$low + channel$width * value)
  if (channel$error == "no") return(result)
  spread <- function(one, other) sum(cells$count * one * other) / n / (n - 1)
  above <- cells$score - a
  below <- cells$present - b
  va <- spread(above, above)
  vb <- spread(below, below)
  both <- spread(above, below)
  if (vb < 1e-18) vb <- both <- 0
  result$std_error <- channel$width * sqrt(max(0, va - 2 * value * both + value^2 * vb)) / b
  t <- qt((1 + row$conf_level) / 2, n - 1)
  ends <- NULL
  if (row$conf_method %in% c("student-t", "fieller")) {
    quadratic <- b^2 - t^2 * vb
    middle <- (a * b - t^2 * both) / quadratic
    half <- sqrt(max(0, (a * b - t^2 * both)^2 - quadratic * (a^2 - t^2 * va))) / quadratic
    ends <- .clipped(c(middle - half, middle + half))
  } else if (row$conf_method %in% c("clopper-pearson", "bounded-clopper-pearson") && vb == 0) {
    gap <- channel$most - channel$least
    x <- min(n, max(0, n * (a - channel$least) / gap))
    if (abs(x - round(x)) < 1e-6) x <- round(x)
    ends <- clopper_pearson(x, n, (1 - channel$least) / gap, -channel$least / gap, row$conf_level)
  }
  if (!is.null(ends)) result$ends <- channel$low + channel$width * ends
  result
}

differs <- function(number, row, column, computed) {
  is <- row[[column]]
  if (is.na(is) || abs(is - computed) > 1e-6 * abs(is) + 1e-8) {
    stop(sprintf("estimates.csv, line %d (%s, %s): %s is %s, but recomputed %.10g",
                 number + 1, row$question, row$term, column, format(is, digits = 10), computed),
         call. = FALSE)
  }
}

compared <- c(estimates = 0, intervals = 0)
for (number in seq_len(nrow(stated))) {
  row <- as.list(stated[number, ])
  channel <- channels[channels$question == row$question & channels$term == row$term, ]
  if (nrow(channel) == 0) next
  cells <- scores[scores$question == row$question & scores$term == row$term, ]
  compute <- if (channel$quantity == "share") of_share else of_mean
  found <- compute(row, as.list(channel), cells)
  if (is.null(found) || (is.na(row$estimate) && channel$quantity == "mean")) next
  differs(number, row, "estimate", found$estimate)
  compared["estimates"] <- compared["estimates"] + 1
  if (!is.null(found$std_error)) differs(number, row, "std_error", found$std_error)
  if (!is.null(found$ends)) {
    differs(number, row, "conf_low", found$ends[1])
    differs(number, row, "conf_high", found$ends[2])
    compared["intervals"] <- compared["intervals"] + 1
  }
}
cat(sprintf("%d of %d estimates and %d of their intervals are as computed; ",
            compared["estimates"], nrow(stated), compared["intervals"]))
cat("deniable verify computes the others, too\n")
